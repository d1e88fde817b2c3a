// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Several endpoints to one peer that look like one. Layer: framework (peer).
///
/// Messages whose order is kept (port.hpp) get a number in front, and the receiver puts them back in order
/// (reorder.hpp); answers and data fragments refer to ids and offsets, and go without. A peer with one path
/// has none of this: its messages are as they were.
/// Threads:   the thread that progresses.
/// Ownership: the endpoints are their transports'; the ports outlive it.
/// Ordering:  none between the paths.
/// Errors:    as btl::Endpoint; the loss of one path is the loss of the peer.
/// Units:     bytes.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frameworks/btl/btl.hpp"
#include "frameworks/peer/port.hpp"
#include "frameworks/peer/wire.hpp"

namespace starling::peer {

/// In the order of the parameter's choices.
enum class PathUse : std::uint8_t {
  spill,     ///< the best path takes what it can, the next what that refuses
  alternate  ///< each path in turn: the one that has been given the fewest bytes
};

class Paths final : public btl::Endpoint {
 public:
  Paths(PathUse use, const Ports& ports) noexcept : use_(use), ports_(ports) {}

  /// Another path; the best first.
  void add(btl::Component& transport, btl::Endpoint& endpoint);
  [[nodiscard]] std::size_t count() const noexcept { return paths_.size(); }
  /// "ucx+ofi".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Longest message that every path takes, numbered.
  [[nodiscard]] std::size_t message_max() const noexcept;
  [[nodiscard]] std::size_t eager_bytes() const noexcept;
  [[nodiscard]] std::size_t fragment_bytes() const noexcept;

  /// The peer has taken all messages up to this number.
  void passed(std::uint64_t number) noexcept;

  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept override;
  Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                 btl::Completion*) noexcept override {
    return send(header, payload);
  }
  std::byte* reserve(std::size_t bytes) noexcept override;
  void commit(std::size_t bytes) noexcept override;
  [[nodiscard]] bool await_room() noexcept override;
  Post get(const btl::RemoteBuffer&, std::span<std::byte>, btl::Completion*) noexcept override {
    return Post::again;
  }
  [[nodiscard]] bool can_get(const btl::RemoteBuffer&) noexcept override { return false; }
  [[nodiscard]] btl::Loans* loans() noexcept override { return nullptr; }
  [[nodiscard]] btl::Writes* writes() noexcept override { return nullptr; }
  [[nodiscard]] btl::CopyWay copies() noexcept override { return {}; }
  [[nodiscard]] btl::Remote* remote() noexcept override { return paths_.front().endpoint->remote(); }

 private:
  struct Path {
    btl::Component* transport;
    btl::Endpoint* endpoint;
    /// Bytes in turn beyond those of the path that has been given the fewest.
    std::size_t ahead = 0;
  };
  [[nodiscard]] bool window_full() const noexcept;
  [[nodiscard]] bool takes_turns(bool dealt) const noexcept { return dealt || use_ == PathUse::alternate; }
  [[nodiscard]] std::size_t first_choice(bool in_turn) const noexcept;
  void count(std::size_t path, std::size_t bytes) noexcept;
  Post offer(bool dealt, std::span<const std::byte> header, std::span<const std::byte> payload) noexcept;

  PathUse use_;
  const Ports& ports_;
  std::vector<Path> paths_;
  std::string name_;
  std::uint64_t sent_ = 0;     // number of the last message that got one
  std::uint64_t passed_ = 0;   // number of the last one that the peer is known to have taken
  std::size_t reserved_ = 0;   // the path that has the reserved message
  std::byte* room_ = nullptr;  // of the reserved message, the number included
};

}  // namespace starling::peer

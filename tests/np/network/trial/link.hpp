// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Streams of btl/trial: one way each, a hello and then frames of {length, bytes}. Layer: tests.
/// Two lengths have no bytes: they say that the sender leaves, or is back.
///
/// Threads:   the transport's.
/// Ownership: own their sockets.
/// Errors:    a stream that broke says so by its state.
/// Units:     bytes, nanoseconds.

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/btl/btl.hpp"

namespace starling::btl::trial {

inline constexpr std::size_t kMessageMaxBytes = 64 * 1024;
inline constexpr std::size_t kQueueBytes = 512 * 1024;

/// A socket address as bytes: what is published.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] static SocketAddress tcp(const std::string& host, std::uint16_t port);
  [[nodiscard]] static SocketAddress file(const std::string& path);
  [[nodiscard]] static Result<SocketAddress> from(std::span<const std::byte> bytes);
  [[nodiscard]] std::vector<std::byte> bytes() const;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] UniqueFd socket() const;
};

struct Manner {
  bool lose_early = false;    ///< nobody there: what is sent is lost; else it waits and connects again
  std::uint64_t hold_ns = 0;  ///< how long a message stays here after done
};

/// Towards a peer. An Endpoint.
class Outgoing final : public Endpoint {
 public:
  Outgoing(ProcId self, ProcId peer, SocketAddress to, Manner manner, Component::Counters& counters);

  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept override;
  std::byte* reserve(std::size_t bytes) noexcept override;
  void commit(std::size_t bytes) noexcept override;
  [[nodiscard]] bool await_room() noexcept override { return false; }
  Post get(const RemoteBuffer&, std::span<std::byte>, Completion*) noexcept override { return Post::again; }
  [[nodiscard]] bool can_get(const btl::RemoteBuffer&) noexcept override { return false; }
  Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                 Completion*) noexcept override {
    return send(header, payload);
  }
  [[nodiscard]] Loans* loans() noexcept override { return nullptr; }
  [[nodiscard]] Writes* writes() noexcept override { return nullptr; }
  [[nodiscard]] CopyWay copies() noexcept override { return {}; }
  [[nodiscard]] Remote* remote() noexcept override { return nullptr; }

  /// Tells the peer, over a stream that there is, whether this process has left.
  void tell_idle(bool idle);
  /// Writes what may leave. Returns the number of frames written.
  int push() noexcept;
  /// Frames of which the sender was told that they have left, and which have not.
  [[nodiscard]] bool held() const noexcept { return !queue_.empty(); }
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  /// Once true, if the peer has listened before and does so no more.
  [[nodiscard]] bool take_refusal() noexcept { return std::exchange(refused_, false); }
  /// Once true, if the peer ended while this process had something for it.
  [[nodiscard]] bool take_break() noexcept { return std::exchange(broke_, false); }
  [[nodiscard]] ProcId peer() const noexcept { return peer_; }

 private:
  struct Frame {
    std::uint64_t not_before_ns;
    std::vector<std::byte> bytes;
    std::size_t written = 0;
  };
  [[nodiscard]] bool connected() noexcept;
  void queue(std::vector<std::byte> bytes);
  void queue_frame(std::uint32_t length, std::span<const std::byte> bytes);

  ProcId self_, peer_;
  SocketAddress to_;
  Manner manner_;
  Component::Counters& counters_;
  UniqueFd socket_;
  bool void_ = false;    // nobody was there: everything is lost
  bool broken_ = false;  // the peer is gone
  bool refused_ = false;
  bool broke_ = false;
  bool told_idle_ = false;
  std::deque<Frame> queue_;
  std::size_t queued_bytes_ = 0;
  std::vector<std::byte> scratch_;
};

/// From a peer.
class Incoming {
 public:
  explicit Incoming(UniqueFd socket) : socket_(std::move(socket)) {}
  enum class State : std::uint8_t { idle, some, ended };
  /// Delivers whole frames to the sink.
  State pull(Sink& sink, Component::Counters& counters);
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }
  [[nodiscard]] bool known() const noexcept { return known_; }
  /// Whether its sender has said that it leaves.
  [[nodiscard]] bool left() const noexcept { return left_; }

 private:
  void deliver(Sink& sink, Component::Counters& counters);
  UniqueFd socket_;
  Origin origin_;
  bool known_ = false;
  bool left_ = false;
  std::vector<std::byte> bytes_;
};

}  // namespace starling::btl::trial

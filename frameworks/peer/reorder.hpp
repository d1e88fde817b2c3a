// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Puts the numbered messages of a peer with several paths back in order. Layer: framework (peer).
///
/// A peer may be at most kWindow messages ahead of what it has been told to be taken, so what is held is
/// bounded in number; in bytes it is bounded by the eager credit, since held messages have not been consumed.
/// Threads:   the thread that progresses.
/// Ownership: copies what it holds.
/// Errors:    a number seen before, or beyond the window, is `refused`.
/// Units:     messages.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace starling::peer {

class Reorder {
 public:
  static constexpr std::uint64_t kWindow = 1024;

  enum class Place : std::uint8_t {
    next,    ///< it is the next one, and counts as taken: deliver it, then what take() gives
    held,    ///< kept until those before it have come
    refused  ///< it cannot be the peer's
  };
  [[nodiscard]] Place offer(std::uint64_t number, std::span<const std::byte> message);
  /// The next message in order if it is here already.
  [[nodiscard]] std::optional<std::vector<std::byte>> take();

  /// The number of the last message taken; the first has number 1.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::uint32_t held() const noexcept { return held_; }
  /// Whether the peer should hear about taken() now: a quarter of the window has gone by. Then it counts as
  /// told.
  [[nodiscard]] bool tell() noexcept;

 private:
  using Slot = std::optional<std::vector<std::byte>>;
  using Slots = std::array<Slot, kWindow>;

  std::unique_ptr<Slots> slots_;  // by number modulo kWindow; made when the first message has to wait
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;
  std::uint32_t held_ = 0;
};

}  // namespace starling::peer

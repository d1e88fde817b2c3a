// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which pieces of a range of memory are taken: halves of halves. Layer: core.
///
/// A piece is a power of two of blocks and lies on a multiple of its size; two free halves become one again,
/// so that sizes that change leave no memory behind that others cannot use. The piece that was given back
/// last is the first to be taken again, while it is warm.
///
/// Threads:   one at a time.
/// Ownership: of its own lists; the memory is somebody else's, and is not touched.
/// Errors:    may throw std::bad_alloc when made, and not later.
/// Units:     bytes.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace starling {

class Buddy {
 public:
  Buddy() { heads_.fill(kNone); }
  /// `block`: a power of two; what is left of `bytes` behind the last whole block is not used.
  Buddy(std::size_t bytes, std::size_t block)
      : shift_(static_cast<unsigned>(std::countr_zero(block))),
        next_(bytes / block),
        previous_(bytes / block),
        state_(bytes / block) {
    heads_.fill(kNone);
    const std::size_t blocks = bytes / block;
    for (std::size_t at = 0; at < blocks;) {
      // The largest piece that may begin here.
      const unsigned aligned = at == 0 ? kOrders - 1 : static_cast<unsigned>(std::countr_zero(at));
      const unsigned fits = static_cast<unsigned>(std::bit_width(blocks - at)) - 1;
      const unsigned order = aligned < fits ? aligned : fits;
      put(static_cast<std::uint32_t>(at), order);
      at += std::size_t{1} << order;
    }
  }

  /// Where a piece of at least that many bytes begins.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t bytes) noexcept {
    const unsigned wanted = order_of(bytes);
    unsigned order = wanted;
    while (order < kOrders && heads_[order] == kNone) ++order;
    if (order >= kOrders) return std::nullopt;
    const std::uint32_t at = heads_[order];
    unlink(at, order);
    while (order > wanted) {
      --order;
      put(at + (1u << order), order);
    }
    state_[at] = static_cast<std::uint8_t>(kTaken | wanted);
    return std::size_t{at} << shift_;
  }

  /// What take() gave.
  void give(std::size_t offset) noexcept {
    auto at = static_cast<std::uint32_t>(offset >> shift_);
    unsigned order = state_[at] & kOrderMask;
    state_[at] = 0;
    while (order + 1 < kOrders) {
      const std::uint32_t other = at ^ (1u << order);
      if (other >= state_.size() || state_[other] != (kFree | order)) break;
      unlink(other, order);
      at = at < other ? at : other;
      ++order;
    }
    put(at, order);
  }

  /// What take(bytes) takes.
  [[nodiscard]] std::size_t rounded(std::size_t bytes) const noexcept {
    return std::size_t{1} << (order_of(bytes) + shift_);
  }

 private:
  static constexpr unsigned kOrders = 31;
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::uint8_t kTaken = 0x80, kFree = 0x40, kOrderMask = 0x3f;

  [[nodiscard]] unsigned order_of(std::size_t bytes) const noexcept {
    const std::size_t blocks = bytes == 0 ? 1 : ((bytes - 1) >> shift_) + 1;
    return static_cast<unsigned>(std::bit_width(blocks - 1));
  }
  void put(std::uint32_t at, unsigned order) noexcept {
    state_[at] = static_cast<std::uint8_t>(kFree | order);
    previous_[at] = kNone;
    next_[at] = heads_[order];
    if (next_[at] != kNone) previous_[next_[at]] = at;
    heads_[order] = at;
  }
  void unlink(std::uint32_t at, unsigned order) noexcept {
    (previous_[at] != kNone ? next_[previous_[at]] : heads_[order]) = next_[at];
    if (next_[at] != kNone) previous_[next_[at]] = previous_[at];
    state_[at] = 0;
  }

  unsigned shift_ = 0;
  std::array<std::uint32_t, kOrders> heads_{};
  std::vector<std::uint32_t> next_, previous_;  // of free pieces, by their first block
  std::vector<std::uint8_t> state_;             // of a piece's first block: taken or free, and its order
};

}  // namespace starling

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a process has attached to a dynamic window, for the others of its node. Layer: mpi.
/// docs/design/onesided.md
///
/// Who finds the place of an operation here copies by the kernel; who does not asks the target by a message.
///
/// Threads:   written by its owner, under the runtime's lock; read by all members of the domain at any time.
/// Ordering:  a sequence lock: odd while it is written.
/// Ownership: lies in the window's control words. All zero is empty; no page is there before it is used.
/// Units:     bytes, addresses of the owner.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace starling::mpi {

struct alignas(64) AttachedTable {
  /// Of the pieces with the lowest addresses; the others are reached by messages.
  static constexpr std::uint64_t kMost = 63;
  struct Piece {
    std::atomic<std::uint64_t> begin, bytes;
  };

  /// `pieces`: a map from begin to bytes.
  template <class Pieces>
  void publish(const Pieces& pieces) noexcept {
    const std::uint64_t before = sequence.load(std::memory_order_relaxed);
    sequence.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    std::uint64_t listed = 0;
    for (auto at = pieces.begin(); at != pieces.end() && listed < kMost; ++at, ++listed) {
      all[listed].begin.store(at->first, std::memory_order_relaxed);
      all[listed].bytes.store(at->second, std::memory_order_relaxed);
    }
    count.store(listed, std::memory_order_relaxed);
    sequence.store(before + 2, std::memory_order_release);
  }
  /// Whether all of these bytes surely lie in one piece.
  [[nodiscard]] bool has(std::uint64_t address, std::uint64_t bytes) const noexcept {
    const std::uint64_t before = sequence.load(std::memory_order_acquire);
    const std::uint64_t listed = std::min(count.load(std::memory_order_relaxed), kMost);
    bool found = false;
    for (std::uint64_t i = 0; i < listed && !found; ++i) {
      const std::uint64_t offset = address - all[i].begin.load(std::memory_order_relaxed);
      const std::uint64_t size = all[i].bytes.load(std::memory_order_relaxed);
      found = offset <= size && bytes <= size - offset;
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    return found && before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before;
  }

  std::atomic<std::uint64_t> sequence, count;
  std::array<Piece, kMost> all;
};
static_assert(sizeof(AttachedTable) == 1024);

}  // namespace starling::mpi

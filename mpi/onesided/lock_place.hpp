// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One lock of a window in the control words, and which member owns each slot. Layer: mpi.
/// docs/design/onesided.md
///
/// Threads: under the runtime's lock. Ownership: value type; the words are the window's.

#include <cstdint>

#include "mpi/onesided/window.hpp"

namespace starling::mpi {

struct LockPlace {
  Control::Lock lock;
  std::uint32_t of = Control::kNode;  ///< the seat of the target, or kNode

  /// The rank of the process that uses a slot, for itself or for others.
  [[nodiscard]] std::uint32_t rank_of(const Win& win, std::uint32_t slot) const noexcept {
    return win.domain().local_peers[win.control().seat_of(slot, of)];
  }
};

/// As this process takes them for itself. `rank` has a seat.
[[nodiscard]] inline LockPlace target_lock_of(const Win& win, std::uint32_t rank) noexcept {
  const std::uint32_t seat = win.target(rank).seat;
  return {win.control().target_lock(seat, win.seat(), win.epochs.takings), seat};
}
[[nodiscard]] inline LockPlace node_lock_of(const Win& win) noexcept {
  return {win.control().node_lock(win.seat(), win.epochs.takings)};
}

/// Rings for the process behind this slot; kNobody: for none.
void wake(const Win& win, const LockPlace& place, std::uint32_t slot) noexcept;
/// Frees the lock of members that have died. The rank of one that may have held it; Lock::kNobody: none.
[[nodiscard]] std::uint32_t free_of_dead(const Win& win, const LockPlace& place) noexcept;

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Locks of a window: waking those who wait, and freeing what the dead held. Layer: mpi.

#include "mpi/onesided/lock_place.hpp"

#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {

using Lock = Control::Lock;

void wake(const Win& win, const LockPlace& place, std::uint32_t slot) noexcept {
  if (slot == Lock::kNobody) return;
  const std::uint32_t rank = place.rank_of(win, slot);
  Runtime::get()->place().segment().ring(win.target(rank).local_rank);
}

std::uint32_t free_of_dead(const Win& win, const LockPlace& place) noexcept {
  Lock lock = place.lock;
  std::uint32_t held = Lock::kNobody;
  for (std::uint32_t slot = 0; slot < lock.size(); ++slot) {
    const Lock::Doing doing = lock.doing(slot);
    if (!doing.holds && !doing.waits) continue;
    const std::uint32_t rank = place.rank_of(win, slot);
    if (rank == win.rank() || Runtime::get()->place().segment().alive(win.target(rank).local_rank)) continue;
    if (lock.clear_of(slot)) held = rank;
  }
  return held;
}

}  // namespace starling::mpi

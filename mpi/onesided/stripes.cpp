// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a stripe: its holder needs it for some nanoseconds, unless it was put aside. Layer: mpi.

#include "mpi/onesided/stripes.hpp"

#include <sched.h>

#include "core/pause.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

constexpr std::uint32_t kSpins = 200;
/// Yields between two looks whether the holder lives.
constexpr std::uint32_t kYieldsPerLook = 1000;

}  // namespace

void Stripe::wait(const Win& win) noexcept {
  const std::uint32_t mine = win.seat() + 1;
  std::uint32_t yields = 0;
  for (std::uint32_t spins = 0;;) {
    std::uint32_t holder = word_.load(std::memory_order_relaxed);
    if (holder == 0) {
      if (word_.compare_exchange_weak(holder, mine, std::memory_order_acquire, std::memory_order_relaxed))
        return;
      continue;
    }
    if (spins < kSpins) {
      ++spins;
      pause_cpu();
      continue;
    }
    ::sched_yield();
    if (++yields % kYieldsPerLook != 0) continue;
    if (Runtime::get()->place().segment().alive(win.local_rank_of(holder - 1))) continue;
    if (word_.compare_exchange_strong(holder, mine, std::memory_order_acquire, std::memory_order_relaxed))
      return;
  }
}

}  // namespace starling::mpi

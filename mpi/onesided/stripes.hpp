// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What makes accumulates atomic to each other: a short lock for each stripe of a target's memory.
/// Layer: mpi. docs/design/onesided.md
///
/// An element belongs to the stripe of its first byte, so all who name the same element agree. Everything
/// that is to be atomic goes through these locks, short or long, whatever the type.
///
/// Threads:   under the runtime's lock, which is not given away while a stripe is held.
/// Errors:    a holder that has died is found after a while, and its stripe taken over.
/// Units:     bytes.

#include <atomic>
#include <cstdint>

#include "mpi/onesided/window.hpp"

namespace starling::mpi {

/// Bytes in a row that share a lock.
inline constexpr std::uint64_t kStripeBytes = 4096;

class Stripe {
 public:
  /// Takes the stripe of the byte `offset` of the part of a target that has a seat.
  Stripe(const Win& win, std::uint32_t target, std::uint64_t offset) noexcept
      : word_(win.control()
                  .target(win.target(target).seat)
                  .stripes[offset / kStripeBytes % TargetControl::kStripes]) {
    std::uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, win.seat() + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed)) [[unlikely]]
      wait(win);
  }
  ~Stripe() { word_.store(0, std::memory_order_release); }
  Stripe(const Stripe&) = delete;
  Stripe& operator=(const Stripe&) = delete;

 private:
  [[gnu::noinline]] void wait(const Win& win) noexcept;

  std::atomic<std::uint32_t>& word_;
};

}  // namespace starling::mpi

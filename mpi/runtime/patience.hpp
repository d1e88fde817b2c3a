// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How long a wait polls, and how long it yields, before it sleeps. Layer: mpi. docs/design/waiting.md
///
/// Threads: any. Units: as the names say.

#include <cstddef>
#include <cstdint>

namespace starling::mpi {

struct Patience {
  std::uint64_t spin_ns = 0;   ///< polls without an event
  std::uint64_t yield_ns = 0;  ///< then yields between polls, before it sleeps

  /// `spin_us`, `yield_us`: the parameters; negative: not set. `shares_core`: the process that is waited for
  /// may want this core.
  [[nodiscard]] static constexpr Patience of(std::int64_t spin_us, std::int64_t yield_us, bool shares_core,
                                             std::size_t node_ranks) noexcept {
    constexpr std::uint64_t kSpinUs = 100;
    // Waking a process on an idle core takes 20 us or more: too much for a wait of up to this time, little
    // for a longer one.
    constexpr std::uint64_t kYieldUs = 900;
    constexpr std::uint64_t kSharedYieldUs = 500, kSharedYieldOfRankUs = 50;
    const std::uint64_t spin = shares_core ? 0 : kSpinUs;
    const std::uint64_t yield = shares_core ? kSharedYieldUs + kSharedYieldOfRankUs * node_ranks : kYieldUs;
    return {.spin_ns = 1000 * (spin_us >= 0 ? static_cast<std::uint64_t>(spin_us) : spin),
            .yield_ns = 1000 * (yield_us >= 0 ? static_cast<std::uint64_t>(yield_us) : yield)};
  }
};

}  // namespace starling::mpi

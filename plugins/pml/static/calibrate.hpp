// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Measures, in this process alone, whether get or ring moves large messages faster. Layer: plugin.
///
/// The get is process_vm_readv from our own memory, what a shared-memory transport's get costs; the ring is
/// the copy of each fragment into a small buffer that both sides reuse. In the ring the two copies overlap,
/// so one of them counts.
/// Threads:   any.
/// Errors:    where process_vm_readv is refused, the ring wins at every size.
/// Units:     bytes and nanoseconds.

#include <cstdint>
#include <limits>
#include <string>

namespace starling::pml {

struct Calibration {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t get_from = kNever;  ///< a get is faster from this size on
  std::string note;                 ///< what was measured, for the report
};

/// Costs of one way at two sizes, from which the line through them is drawn.
struct Costs {
  double small_ns = 0;
  double large_ns = 0;
};
inline constexpr std::uint64_t kCalibrateSmall = 16 * 1024;
inline constexpr std::uint64_t kCalibrateLarge = 64 * 1024;

/// The size from which the line through `get` lies below the line through `ring`; kNever if it does not.
[[nodiscard]] std::uint64_t crossing(const Costs& get, const Costs& ring) noexcept;

/// Takes a few hundred microseconds at most: stops early on a busy machine, with what it has.
[[nodiscard]] Calibration calibrate();

}  // namespace starling::pml

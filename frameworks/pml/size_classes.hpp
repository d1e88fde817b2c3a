// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Large messages of like sizes, which are tried together. Layer: framework (pml).
///
/// Threads: pure functions. Units: bytes; costs in nanoseconds per MiB.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

namespace starling::pml {

/// By powers of two: below 32 KiB, below 64 KiB and so on; the last one has no end.
struct SizeClasses {
  static constexpr unsigned kCount = 9;

  [[nodiscard]] static unsigned of(std::uint64_t bytes) noexcept {
    const auto bits = static_cast<unsigned>(std::bit_width(bytes));
    return std::clamp(bits, kFirstBits, kFirstBits + kCount - 1) - kFirstBits;
  }
  /// "64 KiB": the least size of a class; for the first, which begins at 0, half of where it ends.
  [[nodiscard]] static std::string text(unsigned size_class) {
    return std::to_string((std::uint64_t{1} << (kFirstBits + size_class)) / 2048) + " KiB";
  }

 private:
  static constexpr unsigned kFirstBits = 15;  // sizes below 2^15 bytes
};

/// "12100", in MB/s.
[[nodiscard]] inline std::string speed_text(std::uint64_t ns_per_mib) {
  return std::to_string(1'048'576'000 / std::max<std::uint64_t>(ns_per_mib, 1));
}

}  // namespace starling::pml

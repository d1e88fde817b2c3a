// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Arithmetic that several algorithms share: equal parts of a vector, powers of two, ranks in a
/// circle. Layer: mpi.

#include <algorithm>
#include <cstdint>

namespace starling::mpi::coll {

/// `count` elements in `parts` parts whose sizes differ by at most one.
struct Split {
  std::uint64_t count = 0;
  int parts = 1;
  [[nodiscard]] std::uint64_t begin(int part) const noexcept {
    const auto n = static_cast<std::uint64_t>(parts), i = static_cast<std::uint64_t>(part);
    return count / n * i + std::min(i, count % n);
  }
  [[nodiscard]] std::uint64_t size(int part) const noexcept { return begin(part + 1) - begin(part); }
};

/// The largest power of two that is not above n (n > 0).
[[nodiscard]] constexpr int power_of_two_below(int n) noexcept {
  int power = 1;
  while (power <= n / 2) power *= 2;
  return power;
}

/// rank + step in a circle of n ranks; |step| <= n.
[[nodiscard]] constexpr int around(int rank, int step, int n) noexcept {
  const int at = rank + step;
  return at >= n ? at - n : at < 0 ? at + n : at;
}

}  // namespace starling::mpi::coll

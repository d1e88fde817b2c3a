// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Numbers as products of factors that are close to each other. Layer: mpi. MPI 5.0 section 8.5.2.
///
/// Threads: pure function.
/// Errors:  none; `number` is positive.

#include <vector>

namespace starling::mpi::topology {

/// `count` factors of `number`, the largest first. Of all such lists it is the one whose largest and smallest
/// factor differ least; among those the one whose smallest factor is largest, then the one whose second
/// smallest is, and so on. `count` is positive, or 0 for number 1.
[[nodiscard]] std::vector<int> balanced_factors(int number, int count);

}  // namespace starling::mpi::topology

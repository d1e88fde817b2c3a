// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Accumulates, and the atomic operations that fetch. Layer: mpi. MPI 5.0 section 12.3.4;
/// docs/design/onesided.md
///
/// Atomic by element, all of them to each other, whatever their types and lengths.
///
/// Threads:   under the runtime's lock.
/// Ordering:  in the order of the calls.
/// Errors:    MPI error classes: those of locate(), MPI_ERR_OP, MPI_ERR_TYPE, MPI_ERR_TRUNCATE.

#include "mpi/onesided/transfer.hpp"
#include "mpi/op/op.hpp"

namespace starling::mpi {

/// target = target op origin. `result`, if not null, gets what the target had before. With MPI_NO_OP the
/// origin is not looked at.
[[nodiscard]] int accumulate(Win& win, const Data& origin, const Data* result, const Spot& place,
                             const Op& op);

/// `result` = target; target = `origin` if target == `compare`. One element of an integer, logical or byte
/// type.
[[nodiscard]] int compare_and_swap(Win& win, const void* origin, const void* compare, void* result,
                                   const Spot& place);

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The reducing half of the ring algorithms. Layer: mpi.

#include "mpi/coll/arguments.hpp"
#include "mpi/coll/schedule.hpp"

namespace starling::mpi::coll {

/// Afterwards process r has the reduction of part (r + 1) mod n of the vector (Split) in its place in
/// `result`; what the rest of `result` holds is undefined. `in_place`: the operand is in `result`, else in
/// asked.send, which is only read.
void ring_reduce_scatter(Schedule& schedule, const Team& team, const Reduce& asked, bool in_place,
                         void* result);

}  // namespace starling::mpi::coll

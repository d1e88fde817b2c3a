// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One-sided operations as messages. Layer: mpi. docs/design/onesided.md
///
/// All checks that the origin can make have been made.
///
/// Threads:   under the runtime's lock.
/// Errors:    arrive later (Part::flush).

#include "mpi/onesided/transfer.hpp"
#include "mpi/op/op.hpp"

namespace starling::mpi::message {

void put(Win& win, const Data& origin, const Spot& place, const Located& found);
void get(Win& win, const Data& origin, const Spot& place, const Located& found);
/// `result` may be null.
void accumulate(Win& win, const Data& origin, const Data* result, const Spot& place, const Located& found,
                OpCode code, Basic element);
void compare_and_swap(Win& win, const void* origin, const void* compare, void* result, const Spot& place,
                      const Located& found);
/// A request that is complete when the last operation on the target needs the program's buffers no more.
[[nodiscard]] MPI_Request request_of_last(Win& win, std::uint32_t rank);

}  // namespace starling::mpi::message

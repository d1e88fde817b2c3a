// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What becomes of the receive of a send-receive whose send has failed. Layer: mpi. MPI 5.0 section
/// 3.11.
///
/// Threads: under the runtime's lock.

#include "frameworks/pml/request.hpp"

namespace starling::mpi {

class Comm;

/// `sent` is complete. If it failed here (mpi/request/fault.hpp), the receive is cancelled. One that has
/// matched cannot be: its memory is being written. Then the job ends at once where errors on `comm` are
/// fatal, since the rest of the message may never come; else the receive has to be waited for.
void end_other_half(const char* function, const pml::Request& sent, pml::Request& receive, const Comm& comm);

}  // namespace starling::mpi

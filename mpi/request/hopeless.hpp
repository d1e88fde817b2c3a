// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Waiting for what cannot come any more, since those that could have sent it have left MPI in order.
/// Layer: mpi.
///
/// MPI_Finalize need not be a barrier, nor is the end of a session, so a program may go on to test and to
/// probe for messages of who has left; it finds nothing, and that is no error. A call that would wait for
/// ever says so instead.
/// Threads: under the runtime's lock.

#include "frameworks/pml/pml.hpp"

namespace starling::mpi {

class Comm;

/// Whether a call that waits for a message from `source`, which may be MPI_ANY_SOURCE, would wait for ever.
/// What has come is looked for first.
[[nodiscard]] bool nobody_can_send(const Comm& comm, int source) noexcept;
/// The same of a receive on `comm`.
[[nodiscard]] bool hopeless(const pml::Request& receive, const Comm& comm) noexcept;
/// The rest of a wait for a send or receive on `comm` that has become long: until it is complete, or a
/// receive is hopeless, which ends it with an error. What a short wait does not need is only here.
void wait_long_for(const char* function, pml::Request& request, const Comm& comm);

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Active requests whose handle the user has given up with MPI_Request_free. Layer: mpi. MPI 5.0
/// section 3.7.3.
///
/// They run to their end and are then freed, from the progress loop.
/// Threads: under the runtime's lock.

#include "mpi/request/request.hpp"

namespace starling::mpi {

/// Takes over an active request; its handle must have become MPI_REQUEST_NULL.
void detach(Request& request);

}  // namespace starling::mpi

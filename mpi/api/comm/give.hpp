// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Hands a made communicator to the user. Layer: mpi.

#include "mpi/creation/factory.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi::api {

/// MPI_COMM_NULL where none was made: after an error, or for a process that is in no new group. Returns the
/// error class.
inline int give(const Made& made, MPI_Comm* newcomm) {
  *newcomm = made.comm == nullptr ? MPI_COMM_NULL : as_handle<MPI_Comm>(made.comm->handle());
  return made.error_class;
}

}  // namespace starling::mpi::api

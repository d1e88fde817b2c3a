// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the completion calls share. Layer: mpi. MPI 5.0 sections 3.7.3 - 3.7.5.
///
/// Threads: under the runtime's lock.
/// Errors: MPI error classes; statuses may be MPI_STATUS(ES)_IGNORE.

#include <vector>

#include "mpi/request/request.hpp"

namespace starling::mpi {

/// A request of the user's array: its object, or null for MPI_REQUEST_NULL and inactive persistent ones.
struct Slot {
  MPI_Request* handle = nullptr;
  Request* request = nullptr;
  int code = MPI_SUCCESS;  ///< what the operation ended with, once it is complete
};

/// Resolves one handle; MPI_ERR_REQUEST for one that is no live request.
[[nodiscard]] int resolve(MPI_Request* handle, Slot& slot);
/// Resolves an array; names the index of a bad one.
[[nodiscard]] int resolve(MPI_Count count, MPI_Request handles[], std::vector<Slot>& slots);

/// Ends a completed request: fills `status`, frees a nonpersistent one and sets its handle to
/// MPI_REQUEST_NULL, makes a persistent one inactive. Returns the operation's error class.
[[nodiscard]] int complete(Slot& slot, MPI_Status* status);

}  // namespace starling::mpi

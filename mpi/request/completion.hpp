// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the completion calls share. Layer: mpi. MPI 5.0 sections 3.7.3 - 3.7.5.
///
/// Threads: under the runtime's lock.
/// Errors: MPI error classes; statuses may be MPI_STATUS(ES)_IGNORE.

#include <vector>

#include "mpi/handles.hpp"
#include "mpi/request/request.hpp"

namespace starling::mpi {

/// A request of the user's array: its object, or null for MPI_REQUEST_NULL and inactive persistent ones.
struct Slot {
  MPI_Request* handle = nullptr;
  Request* request = nullptr;
  int code = MPI_SUCCESS;  ///< what the operation ended with, once it is complete
};

/// MPI_ERR_REQUEST, and says why.
[[nodiscard, gnu::cold]] int not_live();
/// As above, for the handle at `index` of an array.
[[nodiscard, gnu::cold]] int not_live(MPI_Count index);

/// MPI_ERR_REQUEST where requests of different sessions stand in one array (section 11.3).
[[nodiscard]] int of_one_session(MPI_Count count, const MPI_Request handles[]);

/// Finds the request of a handle, null without an active one; false for what is no live request.
[[nodiscard]] inline bool find_active(MPI_Request handle, Request** found) noexcept {
  *found = nullptr;
  if (handle == MPI_REQUEST_NULL) return true;
  Request* const request = find_request(handle);
  if (request == nullptr) [[unlikely]]
    return false;
  if (request->active) *found = request;
  return true;
}

/// Resolves one handle; MPI_ERR_REQUEST for one that is no live request.
[[nodiscard]] inline int resolve(MPI_Request* handle, Slot& slot) {
  slot.handle = handle;
  if (find_active(*handle, &slot.request)) [[likely]]
    return MPI_SUCCESS;
  return not_live();
}
/// Resolves an array; names the index of a bad one.
[[nodiscard]] int resolve(MPI_Count count, MPI_Request handles[], std::vector<Slot>& slots);

/// complete() of anything: operations, persistent requests, errors.
[[nodiscard]] int complete_any(MPI_Request* handle, Request& request, MPI_Status* status);

/// Ends a completed request: fills `status`, frees a nonpersistent one and sets its handle to
/// MPI_REQUEST_NULL, makes a persistent one inactive. Returns the operation's error class.
[[nodiscard]] inline int complete(MPI_Request* handle, Request& request, MPI_Status* status) {
  // The fast path: a message that has arrived, and no status.
  if (status != MPI_STATUS_IGNORE || !request.plain()) return complete_any(handle, request, status);
  *handle = MPI_REQUEST_NULL;
  request.free();
  return MPI_SUCCESS;
}
[[nodiscard]] inline int complete(Slot& slot, MPI_Status* status) {
  return complete(slot.handle, *slot.request, status);
}

}  // namespace starling::mpi

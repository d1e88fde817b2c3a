// SPDX-License-Identifier: BSD-3-Clause
// What the completion calls share. Layer: mpi.

#include "mpi/request/completion.hpp"

#include <string>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi {

int resolve(MPI_Request* handle, Slot& slot) {
  slot.handle = handle;
  slot.request = nullptr;
  if (*handle == MPI_REQUEST_NULL) return MPI_SUCCESS;
  Request* const request = find_request(*handle);
  if (request == nullptr)
    return error(MPI_ERR_REQUEST, "request is not a live request (freed twice, or never started?)");
  if (request->active) slot.request = request;
  return MPI_SUCCESS;
}

int resolve(MPI_Count count, MPI_Request handles[], std::vector<Slot>& slots) {
  slots.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (resolve(&handles[i], slots[i]) != MPI_SUCCESS) {
      return error(MPI_ERR_REQUEST, "array_of_requests[" + std::to_string(i) +
                                        "] is not a live request (freed twice, or never started?)");
    }
  }
  return MPI_SUCCESS;
}

int complete(Slot& slot, MPI_Status* status) {
  Request& request = *slot.request;
  MPI_Status unused;
  int rc = request.result(status == MPI_STATUS_IGNORE ? unused : *status);
  request.active = false;
  if (!request.persistent) {
    if (request.operation != nullptr) {
      const int released = request.operation->release();
      if (rc == MPI_SUCCESS) rc = released;
    }
    request.free();
    *slot.handle = MPI_REQUEST_NULL;
  }
  return rc;
}

}  // namespace starling::mpi

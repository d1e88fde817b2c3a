// SPDX-License-Identifier: BSD-3-Clause
// Freeing, looking at and cancelling requests. Layer: mpi. MPI 5.0 sections 3.7.3, 3.7.6, 3.8.4.

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/request/detached.hpp"

namespace starling::mpi::api {

int Request_free(MPI_Request* request) {
  Request* const found = find_request(*request);
  if (found == nullptr) return error(MPI_ERR_REQUEST, "request is not a live request (freed twice?)");
  *request = MPI_REQUEST_NULL;
  if (found->active && !found->done()) {
    detach(*found);
  } else {
    found->free();
  }
  return MPI_SUCCESS;
}

int Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Slot slot;
  if (const int rc = resolve(&request, slot); rc != MPI_SUCCESS) return rc;
  *flag = 1;
  if (slot.request == nullptr) {
    if (status != MPI_STATUS_IGNORE) set_empty(*status);
    return MPI_SUCCESS;
  }
  if (!slot.request->done()) Runtime::get()->progress();
  if (!slot.request->done()) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  // The request stays; the operation's error is given by the call that completes it.
  MPI_Status unused;
  (void)slot.request->result(status == MPI_STATUS_IGNORE ? unused : *status);
  return MPI_SUCCESS;
}

int Cancel(MPI_Request* request) {
  Slot slot;
  if (const int rc = resolve(request, slot); rc != MPI_SUCCESS) return rc;
  if (slot.request == nullptr)
    return error(MPI_ERR_REQUEST, "request is null or inactive; there is nothing to cancel");
  switch (slot.request->form) {
    case Request::Form::send:
    case Request::Form::receive:
      if (!slot.request->buffered) Runtime::get()->pml().cancel(slot.request->core);
      return MPI_SUCCESS;
    case Request::Form::operation: return slot.request->operation->cancel(slot.request->done());
    case Request::Form::proc_null: return MPI_SUCCESS;
  }
  return MPI_SUCCESS;
}

int Test_cancelled(const MPI_Status* status, int* flag) {
  *flag = cancelled(*status) ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// Freeing, looking at and cancelling requests. Layer: mpi. MPI 5.0 sections 3.7.3, 3.7.6, 3.8.4.

#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/request/detached.hpp"

namespace starling::mpi::api {
namespace {

/// Who has left will not receive it: the cancel succeeds, although the send has ended with an error already
/// (MPI 5.0, 12.2.2, the last example of MPI_Finalize).
void cancel_send(Request& send) noexcept {
  if (send.buffered) return;
  pml::Status& status = send.core.status;
  if (send.done() && status.fault == pml::Fault::peer_left) {
    status.fault = pml::Fault::none;
    status.cancelled = true;
  }
  Runtime::get()->pml().cancel(send.core);
}

int not_of_windows(const char* what) {
  return error(MPI_ERR_REQUEST, std::string("request is one of a one-sided operation, which cannot be ") +
                                    what + "; expected MPI_Wait or MPI_Test (section 12.3.5)");
}

}  // namespace

int Request_free(MPI_Request* request) {
  Request* const found = find_request(*request);
  if (found == nullptr) return error(MPI_ERR_REQUEST, "request is not a live request (freed twice?)");
  if (found->one_sided()) return not_of_windows("freed");
  *request = MPI_REQUEST_NULL;
  if (found->active && !found->done()) {
    detach(*found);
    return MPI_SUCCESS;
  }
  const int rc = found->operation != nullptr ? found->operation->release() : MPI_SUCCESS;
  found->free();
  return rc;
}

int Cancel(MPI_Request* request) {
  Slot slot;
  if (const int rc = resolve(request, slot); rc != MPI_SUCCESS) return rc;
  if (slot.request == nullptr)
    return error(MPI_ERR_REQUEST, "request is null or inactive; there is nothing to cancel");
  if (slot.request->one_sided()) return not_of_windows("cancelled");
  switch (slot.request->form) {
    case Request::Form::receive:
      // A message that is here, or was sent before a barrier, is received and not passed by.
      (void)Runtime::get()->waits().poll_until(names::Cancel, [&] { return slot.request->done(); });
      Runtime::get()->pml().cancel(slot.request->core);
      return MPI_SUCCESS;
    case Request::Form::send: cancel_send(*slot.request); return MPI_SUCCESS;
    case Request::Form::operation: return slot.request->operation->cancel(slot.request->done());
    case Request::Form::proc_null:
    case Request::Form::sent:
    case Request::Form::moved: return MPI_SUCCESS;  // too late
  }
  return MPI_SUCCESS;
}

int Test_cancelled(const MPI_Status* status, int* flag) {
  *flag = cancelled(*status) ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api

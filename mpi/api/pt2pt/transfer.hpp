// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the point-to-point calls share: filling requests. Layer: mpi.

#include "frameworks/pml/request.hpp"
#include "mpi.h"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/request/completion.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/request/hopeless.hpp"
#include "mpi/request/request.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {

/// The arguments of one message: its data, its peer, tag and communicator.
struct Transfer {
  const void* buffer;
  MPI_Count count;
  Datatype& datatype;
  int rank;
  int tag;
  Comm& comm;

  void fill(pml::Request& request, pml::Mode mode, bool receive) const {
    request.buffer = datatype.buffer(buffer, static_cast<std::uint64_t>(count));
    request.context = &comm.context();
    request.rank = Rank{rank};
    request.tag = Tag{tag};
    request.mode = mode;
    request.receive = receive;
  }
};

/// Waits for a request on the caller's stack and gives its error class. `function`: for hang help.
[[nodiscard]] inline int wait_for(const char* function, pml::Request& request, const Comm& comm) {
  const auto done = [&request] { return request.complete.load(std::memory_order_acquire); };
  if (!Runtime::get()->waits().watch_shortly(done)) wait_long_for(function, request, comm);
  return request.status.fault == pml::Fault::none ? MPI_SUCCESS : fault_error(request, &comm);
}

/// A request with its handle, filled and not started; form proc_null for MPI_PROC_NULL.
[[nodiscard]] inline Request* make_request(const Transfer& transfer, pml::Mode mode, Request::Form form) {
  Request* const request = Request::make(transfer.rank == MPI_PROC_NULL ? Request::Form::proc_null : form);
  transfer.fill(request->core, mode, form == Request::Form::receive);
  request->comm = Ref<Comm>::share(&transfer.comm);
  // Contiguous data need no type to tell where they lie.
  if (request->core.buffer.layout != nullptr) request->datatype = Ref<Datatype>::share(&transfer.datatype);
  return request;
}

/// Starts a fresh request and stores its handle.
[[nodiscard]] inline int start_into(Request* request, MPI_Request* handle) {
  *handle = reinterpret_cast<MPI_Request>(request->handle());
  const int rc = request->start();
  if (rc == MPI_SUCCESS) return rc;
  *handle = MPI_REQUEST_NULL;
  request->free();
  return rc;
}

/// Status of a receive from MPI_PROC_NULL (section 3.10); MPI_ERROR is left alone (section 3.2.5).
inline void set_proc_null(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  clear(*status);
  status->MPI_SOURCE = MPI_PROC_NULL;
}

/// Status of a completed receive; MPI_ERROR is left alone (section 3.2.5).
inline void store_status(const pml::Status& from, MPI_Status* to) {
  if (to == MPI_STATUS_IGNORE) return;
  fill_status(from, *to);
  set_cancelled(*to, from.cancelled);
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Receives with a buffer of the library's. Layer: mpi. Design: docs/design/managed-buffers.md.

#include "mpi/managed/receive.hpp"

#include <memory>
#include <utility>

#include "mpi/error.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {

void ManagedReceive::from_nobody() noexcept {
  core_.status = {};
  core_.status.source = Rank{MPI_PROC_NULL};
  core_.status.tag = pml::kAnyTag;
  core_.complete.store(true, std::memory_order_release);
}

int ManagedReceive::start(Request&) {
  core_.buffer = buffer_.post();
  if (core_.rank == Rank{MPI_PROC_NULL}) {
    from_nobody();
  } else {
    Runtime::get()->pml().irecv(core_);
  }
  return MPI_SUCCESS;
}

void ManagedReceive::receive(pml::Message* message) noexcept {
  core_.buffer = buffer_.post();
  core_.receive = true;
  if (message == nullptr) {
    from_nobody();
  } else {
    Runtime::get()->pml().mrecv(message, core_);
  }
}

int ManagedReceive::finish(MPI_Status& status) {
  fill_status(core_.status, status);
  set_cancelled(status, core_.status.cancelled);
  buffer_.describe(core_.status, status);
  return core_.status.fault == pml::Fault::none ? MPI_SUCCESS : fault_error(core_, comm_);
}

int ManagedReceive::cancel(bool complete) {
  if (!complete) Runtime::get()->pml().cancel(core_);
  return MPI_SUCCESS;
}

Request* make_managed(Datatype& datatype, MPI_Count count, Ref<Comm> comm, int* rc) {
  if (datatype.absolute()) {
    *rc = error(
        MPI_ERR_TYPE,
        "datatype has absolute addresses, expected one whose elements can lie in a buffer of the library's");
    return nullptr;
  }
  Request* const request = Request::make(Request::Form::operation);
  request->comm = std::move(comm);
  request->operation = std::make_unique<ManagedReceive>(*request, datatype, count);
  *rc = MPI_SUCCESS;
  return request;
}

}  // namespace starling::mpi

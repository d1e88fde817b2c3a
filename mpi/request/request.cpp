// SPDX-License-Identifier: BSD-3-Clause
// Life of requests: pooled, since programs make and free millions of them. Layer: mpi.

#include "mpi/request/request.hpp"

#include <string>
#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {
namespace {

/// Requests that wait to be used again; guarded by the runtime's lock.
std::vector<Request*>& pool() {
  static auto* const requests = new std::vector<Request*>;
  return *requests;
}

}  // namespace

Request::~Request() = default;

Request* Request::make(Form form) {
  Request* request = nullptr;
  if (pool().empty()) {
    request = new Request;
  } else {
    request = pool().back();
    pool().pop_back();
    request->retain();
  }
  request->form = form;
  if (tables().request.insert(request) == 0) {
    request->drop();
    throw std::bad_alloc();  // more than 2^25 requests are alive
  }
  return request;
}

void Request::free() {
  tables().request.remove(handle());
  drop();
}

void Request::destroy() noexcept {
  core.complete.store(false, std::memory_order_relaxed);
  core.status = {};
  core.buffer = {};
  persistent = active = detached = buffered = false;
  comm = {};
  datatype = {};
  operation.reset();
  pool().push_back(this);
}

int Request::start() {
  active = true;
  core.complete.store(false, std::memory_order_relaxed);
  core.status = {};
  switch (form) {
    case Form::proc_null:
      core.status.source = Rank{MPI_PROC_NULL};
      core.status.tag = pml::kAnyTag;
      core.complete.store(true, std::memory_order_release);
      return MPI_SUCCESS;
    case Form::operation: return operation->start(*this);
    case Form::send:
      if (buffered) return start_buffered(*this);
      Runtime::get()->pml().isend(core);
      return MPI_SUCCESS;
    case Form::receive: Runtime::get()->pml().irecv(core); return MPI_SUCCESS;
  }
  return error(MPI_ERR_INTERN, "a request of unknown form was started");
}

int Request::result(MPI_Status& status) {
  clear(status);
  if (form == Form::operation) return operation->finish(status);
  if (form == Form::receive || form == Form::proc_null) fill_status(core.status, status);
  set_cancelled(status, core.status.cancelled);
  if (core.status.fault == pml::Fault::none) return MPI_SUCCESS;
  return fault_error(core, comm.get());
}

}  // namespace starling::mpi

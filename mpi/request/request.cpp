// SPDX-License-Identifier: BSD-3-Clause
// Life of requests: pooled, since programs make and free millions of them. Layer: mpi.

#include "mpi/request/request.hpp"

#include <new>
#include <string>

#include "core/stack.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/request/hopeless.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {
namespace {

/// Requests that wait to be used again; they keep their entries in the table of handles. Guarded by the
/// runtime's lock.
constinit Stack<Request, &Request::next_free> pool;

}  // namespace

Request::~Request() = default;

Request* Request::make(Form form) {
  Request* request = pool.pop();
  if (request != nullptr) [[likely]] {
    request->retain();
    tables().request.renew(request);
  } else {
    request = new Request;
    if (tables().request.insert(request) == 0) {
      delete request;
      throw std::bad_alloc();  // more than 2^25 requests are alive
    }
  }
  request->form = form;
  return request;
}

namespace {

Request* make_complete(Request::Form form) {
  Request* const request = Request::make(form);
  request->active = true;
  request->core.complete.store(true, std::memory_order_relaxed);
  return request;
}

}  // namespace

Request& Request::sent() {
  static constinit Request* request = nullptr;
  if (request == nullptr) [[unlikely]]
    request = make_complete(Form::sent);
  return *request;
}

Request& Request::moved() {
  static constinit Request* request = nullptr;
  if (request == nullptr) [[unlikely]]
    request = make_complete(Form::moved);
  return *request;
}

void Request::free() {
  if (form >= Form::sent) return;
  tables().request.retire(handle());
  drop();
}

void Request::destroy() noexcept {
  core.complete.store(false, std::memory_order_relaxed);
  core.status = {};
  persistent = active = detached = buffered = false;
  comm = {};
  if (datatype) datatype = {};
  if (operation != nullptr) operation.reset();
  pool.push(*this);
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
    case Form::sent:
    case Form::moved: break;  // they are never started
  }
  return error(MPI_ERR_INTERN, "a request of unknown form was started");
}

pml::Request* Request::awaited() noexcept {
  if (form == Form::operation) return operation->awaited();
  return form == Form::receive ? &core : nullptr;
}

bool Request::hopeless() noexcept {
  const pml::Request* const receive = done() ? nullptr : awaited();
  return receive != nullptr && mpi::hopeless(*receive, *comm);
}

bool Request::give_up() noexcept {
  if (done()) return true;
  if (!hopeless()) return false;
  Runtime::get()->pml().give_up(*awaited());
  if (form == Form::operation) (void)operation->progress();
  return true;
}

void Request::wait_long(const char* function) {
  Runtime::get()->waits().watch_long(function, [this] { return give_up(); });
}

int Request::result(MPI_Status& status) {
  clear(status);
  if (form >= Form::sent) return MPI_SUCCESS;
  if (form == Form::operation) return operation->finish(status);
  if (form == Form::receive || form == Form::proc_null) fill_status(core.status, status);
  set_cancelled(status, core.status.cancelled);
  if (core.status.fault == pml::Fault::none) return MPI_SUCCESS;
  return fault_error(core, comm.get());
}

}  // namespace starling::mpi

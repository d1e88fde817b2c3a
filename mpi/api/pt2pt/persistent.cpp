// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests. Layer: mpi. MPI 5.0 section 3.9.

#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi::api {
namespace {

int init(const Transfer& transfer, pml::Mode mode, Request::Form form, bool buffered, MPI_Request* handle) {
  Request* const request = make_request(transfer, mode, form);
  request->persistent = true;
  request->buffered = buffered;
  *handle = as_handle<MPI_Request>(request->handle());
  return MPI_SUCCESS;
}

/// Null if it can be started.
const char* not_startable(const Request* request) {
  if (request == nullptr) return " is not a live request";
  if (!request->persistent) return " is not persistent";
  return request->active ? " is active already; complete it first" : nullptr;
}

}  // namespace

int Send_init(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
              MPI_Request* request) {
  return init({buf, count, datatype, dest, tag, comm}, pml::Mode::standard, Request::Form::send, false,
              request);
}

int Ssend_init(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
               MPI_Request* request) {
  return init({buf, count, datatype, dest, tag, comm}, pml::Mode::synchronous, Request::Form::send, false,
              request);
}

int Rsend_init(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
               MPI_Request* request) {
  return init({buf, count, datatype, dest, tag, comm}, pml::Mode::ready, Request::Form::send, false, request);
}

int Bsend_init(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
               MPI_Request* request) {
  return init({buf, count, datatype, dest, tag, comm}, pml::Mode::standard, Request::Form::send, true,
              request);
}

int Recv_init(void* buf, MPI_Count count, Datatype& datatype, int source, int tag, Comm& comm,
              MPI_Request* request) {
  return init({buf, count, datatype, source, tag, comm}, pml::Mode::standard, Request::Form::receive, false,
              request);
}

int Start(MPI_Request* request) {
  Request* const found = find_request(*request);
  if (const char* const why = not_startable(found); why != nullptr)
    return error(MPI_ERR_REQUEST, std::string("request") + why);
  return found->start();
}

int Startall(int count, MPI_Request array_of_requests[]) {
  if (const int rc = of_one_session(count, array_of_requests); rc != MPI_SUCCESS) return rc;
  for (int i = 0; i < count; ++i) {
    Request* const found = find_request(array_of_requests[i]);
    if (const char* const why = not_startable(found); why != nullptr)
      return error(MPI_ERR_REQUEST, "array_of_requests[" + std::to_string(i) + "]" + why);
    if (const int rc = found->start(); rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api

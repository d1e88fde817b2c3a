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
  if (found == nullptr) return error(MPI_ERR_REQUEST, "request is not a live request");
  if (!found->persistent) return error(MPI_ERR_REQUEST, "request is not persistent");
  if (found->active) return error(MPI_ERR_REQUEST, "request is active already; complete it first");
  return found->start();
}

int Startall(int count, MPI_Request array_of_requests[]) {
  for (int i = 0; i < count; ++i) {
    if (const int rc = Start(&array_of_requests[i]); rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api

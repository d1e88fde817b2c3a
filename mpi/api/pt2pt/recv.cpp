// SPDX-License-Identifier: BSD-3-Clause
// Receives, and send-receives. Layer: mpi. MPI 5.0 sections 3.2.4, 3.7.2, 3.11.

#include <memory>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/transfer.hpp"

namespace starling::mpi::api {

int Recv(void* buf, MPI_Count count, Datatype& datatype, int source, int tag, Comm& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    set_proc_null(status);
    return MPI_SUCCESS;
  }
  pml::Request request;
  Transfer{buf, count, datatype, source, tag, comm}.fill(request, pml::Mode::standard, true);
  Runtime::get()->pml().irecv(request);
  const int rc = wait_for(request, comm);
  store_status(request.status, status);
  return rc;
}

int Irecv(void* buf, MPI_Count count, Datatype& datatype, int source, int tag, Comm& comm, MPI_Request* request) {
  return start_into(make_request({buf, count, datatype, source, tag, comm}, pml::Mode::standard, Request::Form::receive),
                    request);
}

int Sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
             MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, MPI_Status* status) {
  pml::Component& pml = Runtime::get()->pml();
  pml::Request incoming;
  pml::Request outgoing;
  if (source != MPI_PROC_NULL) {
    Transfer{recvbuf, recvcount, recvtype, source, recvtag, comm}.fill(incoming, pml::Mode::standard, true);
    pml.irecv(incoming);
  }
  int sent = MPI_SUCCESS;
  if (dest != MPI_PROC_NULL) {
    Transfer{sendbuf, sendcount, sendtype, dest, sendtag, comm}.fill(outgoing, pml::Mode::standard, false);
    pml.isend(outgoing);
    sent = wait_for(outgoing, comm);
  }
  if (source == MPI_PROC_NULL) {
    set_proc_null(status);
    return sent;
  }
  const int received = wait_for(incoming, comm);
  store_status(incoming.status, status);
  return sent != MPI_SUCCESS ? sent : received;
}

int Sendrecv_replace(void* buf, MPI_Count count, Datatype& datatype, int dest, int sendtag, int source, int recvtag,
                     Comm& comm, MPI_Status* status) {
  // The message leaves from a packed copy, so that the receive may overwrite the buffer at any time.
  const auto elements = static_cast<std::uint64_t>(count);
  const std::uint64_t bytes = elements * datatype.size();
  const auto copy = std::make_unique<std::byte[]>(bytes);
  datatype.pack(buf, elements, 0, copy.get(), bytes);
  pml::Component& pml = Runtime::get()->pml();
  pml::Request incoming;
  pml::Request outgoing;
  if (source != MPI_PROC_NULL) {
    Transfer{buf, count, datatype, source, recvtag, comm}.fill(incoming, pml::Mode::standard, true);
    pml.irecv(incoming);
  }
  int sent = MPI_SUCCESS;
  if (dest != MPI_PROC_NULL) {
    Transfer{buf, count, datatype, dest, sendtag, comm}.fill(outgoing, pml::Mode::standard, false);
    outgoing.buffer = pml::Buffer{copy.get(), bytes, 0, nullptr};
    pml.isend(outgoing);
    sent = wait_for(outgoing, comm);
  }
  if (source == MPI_PROC_NULL) {
    set_proc_null(status);
    return sent;
  }
  const int received = wait_for(incoming, comm);
  store_status(incoming.status, status);
  return sent != MPI_SUCCESS ? sent : received;
}

}  // namespace starling::mpi::api

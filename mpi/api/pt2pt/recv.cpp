// SPDX-License-Identifier: BSD-3-Clause
// Receives, and send-receives. Layer: mpi. MPI 5.0 sections 3.2.4, 3.7.2, 3.11.

#include <memory>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/other_half.hpp"
#include "mpi/api/pt2pt/transfer.hpp"

namespace starling::mpi::api {
namespace {

/// One send, of `data`, and one receive at once; either side may be MPI_PROC_NULL.
int exchange(const char* function, const Transfer& out, const pml::Buffer& data, const Transfer& in,
             MPI_Status* status) {
  pml::Component& pml = Runtime::get()->pml();
  pml::Request incoming;
  pml::Request outgoing;
  if (in.rank != MPI_PROC_NULL) {
    in.fill(incoming, pml::Mode::standard, true);
    pml.irecv(incoming);
  }
  int sent = MPI_SUCCESS;
  const bool at_once =
      data.layout == nullptr && out.rank != MPI_PROC_NULL &&
      pml.try_send(out.comm.context(), Rank{out.rank}, Tag{out.tag}, data.base, data.bytes) == Post::done;
  if (!at_once && out.rank != MPI_PROC_NULL) {
    out.fill(outgoing, pml::Mode::standard, false);
    outgoing.buffer = data;
    pml.isend(outgoing);
    sent = wait_for(function, outgoing, out.comm);
  }
  if (in.rank == MPI_PROC_NULL) {
    set_proc_null(status);
    return sent;
  }
  if (sent != MPI_SUCCESS) [[unlikely]]
    end_other_half(function, outgoing, incoming, out.comm);
  const int received = wait_for(function, incoming, in.comm);
  store_status(incoming.status, status);
  return sent != MPI_SUCCESS ? sent : received;
}

/// Inlined into both, so that none of them hands the name over before it has to wait.
[[gnu::always_inline]] inline int receive(const Transfer& transfer, MPI_Status* status,
                                          const char* function) {
  if (transfer.rank == MPI_PROC_NULL) {
    set_proc_null(status);
    return MPI_SUCCESS;
  }
  pml::Request request;
  transfer.fill(request, pml::Mode::standard, true);
  Runtime::get()->pml().irecv(request);
  const int rc = wait_for(function, request, transfer.comm);
  store_status(request.status, status);
  return rc;
}

}  // namespace

int Recv(void* buf, int count, Datatype& datatype, int source, int tag, Comm& comm, MPI_Status* status) {
  return receive({buf, count, datatype, source, tag, comm}, status, names::Recv);
}

int Recv_c(void* buf, MPI_Count count, Datatype& datatype, int source, int tag, Comm& comm,
           MPI_Status* status) {
  return receive({buf, count, datatype, source, tag, comm}, status, names::Recv_c);
}

int Irecv(void* buf, MPI_Count count, Datatype& datatype, int source, int tag, Comm& comm,
          MPI_Request* request) {
  Request* const made =
      make_request({buf, count, datatype, source, tag, comm}, pml::Mode::standard, Request::Form::receive);
  if (made->form == Request::Form::proc_null) [[unlikely]]
    return start_into(made, request);
  made->active = true;
  Runtime::get()->pml().irecv(made->core);
  *request = as_handle<MPI_Request>(made->handle());
  return MPI_SUCCESS;
}

int Sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm,
             MPI_Status* status, const char* function) {
  return exchange(function, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                  sendtype.buffer(sendbuf, static_cast<std::uint64_t>(sendcount)),
                  {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
}

int Sendrecv_replace(void* buf, MPI_Count count, Datatype& datatype, int dest, int sendtag, int source,
                     int recvtag, Comm& comm, MPI_Status* status, const char* function) {
  // The message leaves from a packed copy, so that the receive may overwrite the buffer at any time.
  const auto elements = static_cast<std::uint64_t>(count);
  const std::uint64_t bytes = elements * datatype.size();
  const auto copy = std::make_unique<std::byte[]>(bytes);
  datatype.pack(buf, elements, 0, copy.get(), bytes);
  return exchange(function, {buf, count, datatype, dest, sendtag, comm},
                  pml::Buffer{copy.get(), bytes, 0, nullptr}, {buf, count, datatype, source, recvtag, comm},
                  status);
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// Sends, blocking and not, in all modes. Layer: mpi. MPI 5.0 sections 3.4, 3.7.2.

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/request/buffered.hpp"

namespace starling::mpi::api {
namespace {

/// pml::Component::try_send or try_isend.
using TrySend = Post (pml::Component::*)(pml::Context&, Rank, Tag, const void*, std::size_t) noexcept;

/// The fast path: a small message to a known peer is done at once, and needs no request.
template <TrySend kTry>
inline bool sent_at_once(const Transfer& transfer, pml::Mode mode) {
  if (mode == pml::Mode::synchronous || transfer.rank == MPI_PROC_NULL) return false;
  const pml::Buffer data =
      transfer.datatype.buffer(transfer.buffer, static_cast<std::uint64_t>(transfer.count));
  return data.layout == nullptr &&
         (Runtime::get()->pml().*kTry)(transfer.comm.context(), Rank{transfer.rank}, Tag{transfer.tag},
                                       data.base, data.bytes) == Post::done;
}

/// Inlined, so that a send that is done at once hands no name over.
[[gnu::always_inline]] inline int send(const Transfer& transfer, pml::Mode mode, const char* function) {
  if (sent_at_once<&pml::Component::try_send>(transfer, mode)) [[likely]]
    return MPI_SUCCESS;
  if (transfer.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  pml::Request request;
  transfer.fill(request, mode, false);
  Runtime::get()->pml().isend(request);
  return wait_for(function, request, transfer.comm);
}

int isend(const Transfer& transfer, pml::Mode mode, MPI_Request* handle) {
  if (sent_at_once<&pml::Component::try_isend>(transfer, mode)) [[likely]] {
    *handle = as_handle<MPI_Request>(Request::sent().handle());
    return MPI_SUCCESS;
  }
  return start_into(make_request(transfer, mode, Request::Form::send), handle);
}

}  // namespace

int Send(const void* buf, int count, Datatype& datatype, int dest, int tag, Comm& comm) {
  return send({buf, count, datatype, dest, tag, comm}, pml::Mode::standard, names::Send);
}

int Send_c(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm) {
  return send({buf, count, datatype, dest, tag, comm}, pml::Mode::standard, names::Send_c);
}

int Ssend(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
          const char* function) {
  return send({buf, count, datatype, dest, tag, comm}, pml::Mode::synchronous, function);
}

int Rsend(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
          const char* function) {
  return send({buf, count, datatype, dest, tag, comm}, pml::Mode::ready, function);
}

int Bsend(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm) {
  if (dest == MPI_PROC_NULL) return MPI_SUCCESS;
  return bsend_buffer_of(comm).send(datatype.buffer(buf, static_cast<std::uint64_t>(count)), comm, Rank{dest},
                                    Tag{tag});
}

int Isend(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
          MPI_Request* request) {
  return isend({buf, count, datatype, dest, tag, comm}, pml::Mode::standard, request);
}

int Issend(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
           MPI_Request* request) {
  return isend({buf, count, datatype, dest, tag, comm}, pml::Mode::synchronous, request);
}

int Irsend(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
           MPI_Request* request) {
  return isend({buf, count, datatype, dest, tag, comm}, pml::Mode::ready, request);
}

int Ibsend(const void* buf, MPI_Count count, Datatype& datatype, int dest, int tag, Comm& comm,
           MPI_Request* request) {
  Request* const made =
      make_request({buf, count, datatype, dest, tag, comm}, pml::Mode::standard, Request::Form::send);
  made->buffered = true;
  return start_into(made, request);
}

}  // namespace starling::mpi::api

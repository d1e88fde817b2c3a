// SPDX-License-Identifier: BSD-3-Clause
// MPI_Scatter and MPI_Scatterv in their three forms. Layer: mpi. MPI 5.0 section 6.6.

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/alias.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

/// At the root.
bool gives_to_itself(const coll::Scatter& asked) noexcept {
  return !asked.in_place &&
         same_memory(region(asked.receive, asked.count, asked.type), asked.send.block(asked.root));
}

coll::Scatter scattering(const Blocks& send, void* recvbuf, MPI_Count recvcount, Datatype& recvtype,
                         int root) {
  coll::Scatter asked;
  asked.send = send;
  asked.receive = recvbuf;
  asked.count = unsigned_count(recvcount);
  asked.type = view(recvtype);
  asked.root = root;
  asked.in_place = recvbuf == MPI_IN_PLACE;
  return asked;
}

int scatter(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
            MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm) {
  const Type sent = view(sendtype);
  const coll::Scatter asked = scattering(Blocks(sendbuf, unsigned_count(sendcount), sent), recvbuf, recvcount,
                                         recvtype, root_of(comm, root));
  const bool roots = !comm.inter() && comm.rank() == static_cast<std::uint32_t>(root);
  if (roots && gives_to_itself(asked)) return aliased("recvbuf");
  const std::uint64_t bytes = roots ? asked.send.bytes(0) : asked.count * asked.type.size;
  if (node::Board* const board = NodeTeam::board(form, comm, blocks_call(Collective::scatter, bytes, comm)))
    return NodeTeam::ended(comm, *board, node::scatter(*board, asked));
  return launch(form, comm, {&sendtype, &recvtype}, [&](Schedule& schedule, const Team& team) {
    coll::scatter(schedule, team, tuning(), asked);
  });
}

int scatterv(const Form& form, const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype,
             void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm) {
  const Type sent = view(sendtype);
  const coll::Scatter asked = scattering(Blocks(sendbuf, view(sendcounts), view(displs), sent), recvbuf,
                                         recvcount, recvtype, root_of(comm, root));
  const bool roots = !comm.inter() && comm.rank() == static_cast<std::uint32_t>(root);
  if (roots && gives_to_itself(asked)) return aliased("recvbuf");
  return launch(form, comm, {&sendtype, &recvtype},
                [&](Schedule& schedule, const Team& team) { coll::scatterv(schedule, team, asked); });
}

}  // namespace

int Scatter(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
            Datatype& recvtype, int root, Comm& comm, const char* function) {
  return scatter(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int Iscatter(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
             Datatype& recvtype, int root, Comm& comm, MPI_Request* request, const char* function) {
  return scatter(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                 root, comm);
}

int Scatter_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                 MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm, Info*, MPI_Request* request,
                 const char* function) {
  return scatter(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                 root, comm);
}

int Scatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
             MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm, const char* function) {
  return scatterv(blocking(function), sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                  root, comm);
}

int Iscatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype, void* recvbuf,
              MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm, MPI_Request* request,
              const char* function) {
  return scatterv(nonblocking(function, request), sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                  recvtype, root, comm);
}

int Scatterv_init(const void* sendbuf, IntArray sendcounts, IntArray displs, Datatype& sendtype,
                  void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm, Info*,
                  MPI_Request* request, const char* function) {
  return scatterv(persistent(function, request), sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                  recvtype, root, comm);
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall and MPI_Alltoallv in their three forms. Layer: mpi. MPI 5.0 section 6.8.

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/alias.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/variable_blocks.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/several_nodes.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

int alltoall(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
             MPI_Count recvcount, Datatype& recvtype, Comm& comm) {
  const Type sent = view(sendtype), received = view(recvtype);
  coll::Alltoall asked;
  asked.in_place = sendbuf == MPI_IN_PLACE;
  if (!asked.in_place) asked.send = Blocks(sendbuf, unsigned_count(sendcount), sent);
  asked.receive = Blocks(recvbuf, unsigned_count(recvcount), received);
  if (sends_to_itself(asked, comm)) return aliased("sendbuf");
  const NodeCall call = blocks_call(Collective::alltoall, asked.receive.bytes(0), comm);
  if (node::Board* const board = asked.in_place ? nullptr : NodeTeam::board(form, comm, call))
    return NodeTeam::ended(comm, *board, node::alltoall(*board, asked));
  if (const auto rc = several_nodes::alltoall(form, comm, asked)) return *rc;
  return launch(form, comm, {&sendtype, &recvtype}, [&](Schedule& schedule, const Team& team) {
    coll::alltoall(schedule, team, tuning(), asked);
  });
}

int alltoallv(const Form& form, const void* sendbuf, IntArray sendcounts, IntArray sdispls,
              Datatype& sendtype, void* recvbuf, IntArray recvcounts, IntArray rdispls, Datatype& recvtype,
              Comm& comm) {
  const Type sent = view(sendtype), received = view(recvtype);
  coll::Alltoall asked;
  asked.in_place = sendbuf == MPI_IN_PLACE;
  if (!asked.in_place) asked.send = Blocks(sendbuf, view(sendcounts), view(sdispls), sent);
  asked.receive = Blocks(recvbuf, view(recvcounts), view(rdispls), received);
  if (sends_to_itself(asked, comm)) return aliased("sendbuf");
  if (node::Board* const board = asked.in_place ? nullptr : NodeTeam::board_for_blocks(form, comm, true)) {
    return NodeTeam::ended(
        comm, node::alltoallv(*board, asked), [&](int rank) { return asked.receive.block(rank); },
        [&](int rank) { return asked.send.block(rank); });
  }
  return launch(form, comm, {&sendtype, &recvtype}, [&](Schedule& schedule, const Team& team) {
    coll::alltoall(schedule, team, tuning(), asked);
  });
}

}  // namespace

int Alltoall(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
             Datatype& recvtype, Comm& comm, const char* function) {
  return alltoall(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int Ialltoall(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
              MPI_Count recvcount, Datatype& recvtype, Comm& comm, MPI_Request* request,
              const char* function) {
  return alltoall(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                  comm);
}

int Alltoall_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                  MPI_Count recvcount, Datatype& recvtype, Comm& comm, Info*, MPI_Request* request,
                  const char* function) {
  return alltoall(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                  comm);
}

int Alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
              IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm, const char* function) {
  return alltoallv(blocking(function), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                   recvtype, comm);
}

int Ialltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype, void* recvbuf,
               IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm, MPI_Request* request,
               const char* function) {
  return alltoallv(nonblocking(function, request), sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                   recvcounts, rdispls, recvtype, comm);
}

int Alltoallv_init(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype,
                   void* recvbuf, IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm,
                   Info*, MPI_Request* request, const char* function) {
  return alltoallv(persistent(function, request), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                   rdispls, recvtype, comm);
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallw in its three forms. Layer: mpi. MPI 5.0 section 6.8.

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/alias.hpp"
#include "mpi/coll/node/variable_blocks.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

int alltoallw(const Form& form, const void* sendbuf, IntArray sendcounts, IntArray sdispls,
              const MPI_Datatype sendtypes[], void* recvbuf, IntArray recvcounts, IntArray rdispls,
              const MPI_Datatype recvtypes[], Comm& comm) {
  UsedList used;
  const std::vector<Type> received = views(recvtypes, comm.peer_count(), used);
  std::vector<Type> sent;
  coll::Alltoall asked;
  asked.in_place = sendbuf == MPI_IN_PLACE;
  if (!asked.in_place) {
    sent = views(sendtypes, comm.peer_count(), used);
    asked.send = Blocks(sendbuf, view(sendcounts), view(sdispls), sent.data());
  }
  asked.receive = Blocks(recvbuf, view(recvcounts), view(rdispls), received.data());
  if (sends_to_itself(asked, comm)) return aliased("sendbuf");
  if (node::Board* const board = asked.in_place ? nullptr : NodeTeam::board_for_blocks(form, comm, true)) {
    return NodeTeam::ended(
        comm, node::alltoallv(*board, asked), [&](int rank) { return asked.receive.block(rank); },
        [&](int rank) { return asked.send.block(rank); });
  }
  return launch(form, comm, used, [&](Schedule& schedule, const Team& team) {
    coll::alltoall(schedule, team, tuning(), asked);
  });
}

}  // namespace

int Alltoallw(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype sendtypes[],
              void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype recvtypes[],
              Comm& comm, const char* function) {
  return alltoallw(blocking(function), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                   recvtypes, comm);
}

int Ialltoallw(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype sendtypes[],
               void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype recvtypes[],
               Comm& comm, MPI_Request* request, const char* function) {
  return alltoallw(nonblocking(function, request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                   recvcounts, rdispls, recvtypes, comm);
}

int Alltoallw_init(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype sendtypes[],
                   void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype recvtypes[],
                   Comm& comm, Info*, MPI_Request* request, const char* function) {
  return alltoallw(persistent(function, request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                   recvcounts, rdispls, recvtypes, comm);
}

}  // namespace starling::mpi::api

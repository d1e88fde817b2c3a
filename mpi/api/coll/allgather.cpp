// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allgather and MPI_Allgatherv in their three forms. Layer: mpi. MPI 5.0 section 6.7.

#include <algorithm>

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/gathering.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/several_nodes.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

bool takes_from_itself(const coll::Gather& asked, const Comm& comm) noexcept {
  return !asked.in_place && !comm.inter() &&
         same_memory(region(asked.send, asked.count, asked.type),
                     asked.receive.block(static_cast<int>(comm.rank())));
}

int allgather(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
              MPI_Count recvcount, Datatype& recvtype, Comm& comm) {
  const Type received = view(recvtype);
  const coll::Gather asked =
      gathering(sendbuf, sendcount, sendtype, Blocks(recvbuf, unsigned_count(recvcount), received), 0);
  if (takes_from_itself(asked, comm)) return aliased("sendbuf");
  const std::uint64_t bytes = asked.receive.bytes(0);
  if (node::Board* const board =
          NodeTeam::board(form, comm, {Collective::allgather, bytes * comm.size(), bytes, 1}))
    return NodeTeam::ended(comm, *board, node::allgather(*board, asked));
  if (const auto rc = several_nodes::allgather(form, comm, asked)) return *rc;
  return launch(form, comm, {&sendtype, &recvtype}, [&](Schedule& schedule, const Team& team) {
    coll::allgather(schedule, team, tuning(), asked);
  });
}

int allgatherv(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
               IntArray recvcounts, IntArray displs, Datatype& recvtype, Comm& comm) {
  const Type received = view(recvtype);
  const coll::Gather asked =
      gathering(sendbuf, sendcount, sendtype, Blocks(recvbuf, view(recvcounts), view(displs), received), 0);
  if (takes_from_itself(asked, comm)) return aliased("sendbuf");
  std::uint64_t longest = 0, total = 0;  // all members know all sizes
  for (int rank = 0; !comm.inter() && rank < static_cast<int>(comm.size()); ++rank) {
    longest = std::max(longest, asked.receive.bytes(rank));
    total += asked.receive.bytes(rank);
  }
  if (node::Board* const board = NodeTeam::board(form, comm, {Collective::allgather, total, longest, 1}))
    return NodeTeam::ended(comm, *board, node::allgather(*board, asked));
  return launch(form, comm, {&sendtype, &recvtype}, [&](Schedule& schedule, const Team& team) {
    coll::allgather(schedule, team, tuning(), asked);
  });
}

}  // namespace

int Allgather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
              MPI_Count recvcount, Datatype& recvtype, Comm& comm, const char* function) {
  return allgather(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int Iallgather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
               MPI_Count recvcount, Datatype& recvtype, Comm& comm, MPI_Request* request,
               const char* function) {
  return allgather(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                   comm);
}

int Allgather_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                   MPI_Count recvcount, Datatype& recvtype, Comm& comm, Info*, MPI_Request* request,
                   const char* function) {
  return allgather(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                   comm);
}

int Allgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
               IntArray recvcounts, IntArray displs, Datatype& recvtype, Comm& comm, const char* function) {
  return allgatherv(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                    comm);
}

int Iallgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                IntArray recvcounts, IntArray displs, Datatype& recvtype, Comm& comm, MPI_Request* request,
                const char* function) {
  return allgatherv(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                    recvtype, comm);
}

int Allgatherv_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                    IntArray recvcounts, IntArray displs, Datatype& recvtype, Comm& comm, Info*,
                    MPI_Request* request, const char* function) {
  return allgatherv(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                    recvtype, comm);
}

}  // namespace starling::mpi::api

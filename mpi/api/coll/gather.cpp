// SPDX-License-Identifier: BSD-3-Clause
// MPI_Gather and MPI_Gatherv in their three forms. Layer: mpi. MPI 5.0 section 6.5.

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/gathering.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/variable_blocks.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

/// At the root.
bool takes_from_itself(const coll::Gather& asked) noexcept {
  return !asked.in_place &&
         same_memory(region(asked.send, asked.count, asked.type), asked.receive.block(asked.root));
}

int gather(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
           MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm) {
  const Type received = view(recvtype);
  const coll::Gather asked =
      gathering(sendbuf, sendcount, sendtype, Blocks(recvbuf, unsigned_count(recvcount), received),
                root_of(comm, root));
  const bool roots = !comm.inter() && comm.rank() == static_cast<std::uint32_t>(root);
  if (roots && takes_from_itself(asked)) return aliased("sendbuf");
  const std::uint64_t bytes = roots ? asked.receive.bytes(0) : asked.count * asked.type.size;
  if (node::Board* const board = NodeTeam::board(form, comm, {Collective::gather, bytes, bytes, 1}))
    return NodeTeam::ended(comm, *board, node::gather(*board, asked));
  return launch(form, comm, {&sendtype, &recvtype},
                [&](Schedule& schedule, const Team& team) { coll::gather(schedule, team, tuning(), asked); });
}

int gatherv(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
            IntArray recvcounts, IntArray displs, Datatype& recvtype, int root, Comm& comm) {
  const Type received = view(recvtype);
  const coll::Gather asked =
      gathering(sendbuf, sendcount, sendtype, Blocks(recvbuf, view(recvcounts), view(displs), received),
                root_of(comm, root));
  const bool roots = !comm.inter() && comm.rank() == static_cast<std::uint32_t>(root);
  if (roots && takes_from_itself(asked)) return aliased("sendbuf");
  if (node::Board* const board = NodeTeam::board_for_blocks(form, comm, false)) {
    return NodeTeam::ended(
        comm, node::gatherv(*board, asked), [&](int rank) { return asked.receive.block(rank); },
        [&](int) { return region(asked.send, asked.count, asked.type); });
  }
  return launch(form, comm, {&sendtype, &recvtype},
                [&](Schedule& schedule, const Team& team) { coll::gatherv(schedule, team, asked); });
}

}  // namespace

int Gather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
           Datatype& recvtype, int root, Comm& comm, const char* function) {
  return gather(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int Igather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
            Datatype& recvtype, int root, Comm& comm, MPI_Request* request, const char* function) {
  return gather(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                root, comm);
}

int Gather_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                MPI_Count recvcount, Datatype& recvtype, int root, Comm& comm, Info*, MPI_Request* request,
                const char* function) {
  return gather(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                root, comm);
}

int Gatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
            IntArray displs, Datatype& recvtype, int root, Comm& comm, const char* function) {
  return gatherv(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                 root, comm);
}

int Igatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf, IntArray recvcounts,
             IntArray displs, Datatype& recvtype, int root, Comm& comm, MPI_Request* request,
             const char* function) {
  return gatherv(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                 recvtype, root, comm);
}

int Gatherv_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                 IntArray recvcounts, IntArray displs, Datatype& recvtype, int root, Comm& comm, Info*,
                 MPI_Request* request, const char* function) {
  return gatherv(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                 recvtype, root, comm);
}

}  // namespace starling::mpi::api

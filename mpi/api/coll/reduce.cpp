// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce and MPI_Allreduce in their three forms. Layer: mpi. MPI 5.0 section 6.9.

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/reduction.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/several_nodes.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

/// The board for a vector that the operation can be applied to where it stands in a cell.
node::Board* board_for(const Form& form, Comm& comm, Collective which, const coll::Reduce& asked) {
  if (!node::dense(asked.type)) return nullptr;
  const std::uint64_t bytes = asked.count * asked.type.size;
  return NodeTeam::board(form, comm, {which, bytes, bytes, asked.type.size, asked.operation.commutative});
}

int reduce(const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op,
           int root, Comm& comm) {
  if (root_of(comm, root) != kNoPart) {
    if (const int rc = check_op(op, datatype); rc != MPI_SUCCESS) return rc;
  }
  const coll::Reduce asked = reduction(sendbuf, recvbuf, count, datatype, op, root_of(comm, root));
  const bool roots = !comm.inter() && comm.rank() == static_cast<std::uint32_t>(root);
  if (roots && overwrites(asked)) return aliased("sendbuf");
  if (node::Board* const board = board_for(form, comm, Collective::reduce, asked))
    return NodeTeam::ended(comm, *board, node::reduce(*board, asked));
  if (const auto rc = several_nodes::reduce(form, comm, asked)) return *rc;
  return launch(form, comm, {&datatype, &op},
                [&](Schedule& schedule, const Team& team) { coll::reduce(schedule, team, tuning(), asked); });
}

int allreduce(const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype,
              Op& op, Comm& comm) {
  if (const int rc = check_op(op, datatype); rc != MPI_SUCCESS) return rc;
  const coll::Reduce asked = reduction(sendbuf, recvbuf, count, datatype, op, 0);
  if (overwrites(asked)) return aliased(comm.inter() ? nullptr : "sendbuf");
  if (node::Board* const board = board_for(form, comm, Collective::allreduce, asked))
    return NodeTeam::ended(comm, *board, node::allreduce(*board, asked));
  if (const auto rc = several_nodes::allreduce(form, comm, asked)) return *rc;
  return launch(form, comm, {&datatype, &op}, [&](Schedule& schedule, const Team& team) {
    coll::allreduce(schedule, team, tuning(), asked);
  });
}

}  // namespace

int Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, int root,
           Comm& comm, const char* function) {
  return reduce(blocking(function), sendbuf, recvbuf, count, datatype, op, root, comm);
}

int Ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, int root,
            Comm& comm, MPI_Request* request, const char* function) {
  return reduce(nonblocking(function, request), sendbuf, recvbuf, count, datatype, op, root, comm);
}

int Reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, int root,
                Comm& comm, Info*, MPI_Request* request, const char* function) {
  return reduce(persistent(function, request), sendbuf, recvbuf, count, datatype, op, root, comm);
}

int Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
              const char* function) {
  return allreduce(blocking(function), sendbuf, recvbuf, count, datatype, op, comm);
}

int Iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
               MPI_Request* request, const char* function) {
  return allreduce(nonblocking(function, request), sendbuf, recvbuf, count, datatype, op, comm);
}

int Allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op,
                   Comm& comm, Info*, MPI_Request* request, const char* function) {
  return allreduce(persistent(function, request), sendbuf, recvbuf, count, datatype, op, comm);
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_scatter and MPI_Reduce_scatter_block in their three forms. Layer: mpi. MPI 5.0 section 6.10.

#include <algorithm>

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/alias.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/several_nodes.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

/// Beyond this messages are faster: the copies of whole vectors weigh more than the waits that they save.
constexpr std::uint64_t kMostBytes = 64 << 10;

/// This member's part of the result would overwrite the vector.
bool overwrites(const coll::ReduceScatter& asked, const Comm& comm) noexcept {
  return asked.send == asked.receive && asked.part(static_cast<int>(comm.rank())) * asked.type.size != 0;
}

/// The board for vectors that the operation can be applied to where they stand in cells.
node::Board* board_for(const Form& form, Comm& comm, const coll::ReduceScatter& asked) {
  if (comm.inter() || !node::dense(asked.type)) return nullptr;
  std::uint64_t longest = 0, total = 0;
  for (int rank = 0; rank < static_cast<int>(comm.size()); ++rank) {
    longest = std::max(longest, asked.part(rank) * asked.type.size);
    total += asked.part(rank) * asked.type.size;
  }
  if (total > kMostBytes) return nullptr;
  const NodeCall call{Collective::reduce_scatter, total, longest * comm.size(), asked.type.size * comm.size(),
                      asked.operation.commutative};
  return NodeTeam::board(form, comm, call);
}

/// `asked` has the lengths of the members' parts, and nothing else yet.
int reduce_scatter(const Form& form, const void* sendbuf, void* recvbuf, coll::ReduceScatter asked,
                   Datatype& datatype, Op& op, Comm& comm) {
  if (const int rc = check_op(op, datatype); rc != MPI_SUCCESS) return rc;
  asked.send = sendbuf;
  asked.receive = recvbuf;
  asked.type = view(datatype);
  asked.operation = view(op);
  asked.in_place = sendbuf == MPI_IN_PLACE;
  if (overwrites(asked, comm)) return aliased(comm.inter() ? nullptr : "sendbuf");
  if (node::Board* const board = board_for(form, comm, asked))
    return NodeTeam::ended(comm, *board, node::reduce_scatter(*board, asked));
  if (const auto rc = several_nodes::reduce_scatter(form, comm, asked)) return *rc;
  return launch(form, comm, {&datatype, &op}, [&](Schedule& schedule, const Team& team) {
    coll::reduce_scatter(schedule, team, tuning(), asked);
  });
}

/// The parts of MPI_Reduce_scatter.
coll::ReduceScatter of_lengths(IntArray recvcounts) {
  coll::ReduceScatter parts;
  parts.counts = view(recvcounts);
  return parts;
}

/// The parts of MPI_Reduce_scatter_block.
coll::ReduceScatter of_equal(MPI_Count recvcount) {
  coll::ReduceScatter parts;
  parts.count = unsigned_count(recvcount);
  return parts;
}

}  // namespace

int Reduce_scatter(const void* sendbuf, void* recvbuf, IntArray recvcounts, Datatype& datatype, Op& op,
                   Comm& comm, const char* function) {
  return reduce_scatter(blocking(function), sendbuf, recvbuf, of_lengths(recvcounts), datatype, op, comm);
}

int Ireduce_scatter(const void* sendbuf, void* recvbuf, IntArray recvcounts, Datatype& datatype, Op& op,
                    Comm& comm, MPI_Request* request, const char* function) {
  return reduce_scatter(nonblocking(function, request), sendbuf, recvbuf, of_lengths(recvcounts), datatype,
                        op, comm);
}

int Reduce_scatter_init(const void* sendbuf, void* recvbuf, IntArray recvcounts, Datatype& datatype, Op& op,
                        Comm& comm, Info*, MPI_Request* request, const char* function) {
  return reduce_scatter(persistent(function, request), sendbuf, recvbuf, of_lengths(recvcounts), datatype, op,
                        comm);
}

int Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, Datatype& datatype, Op& op,
                         Comm& comm, const char* function) {
  return reduce_scatter(blocking(function), sendbuf, recvbuf, of_equal(recvcount), datatype, op, comm);
}

int Ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, Datatype& datatype, Op& op,
                          Comm& comm, MPI_Request* request, const char* function) {
  return reduce_scatter(nonblocking(function, request), sendbuf, recvbuf, of_equal(recvcount), datatype, op,
                        comm);
}

int Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount, Datatype& datatype,
                              Op& op, Comm& comm, Info*, MPI_Request* request, const char* function) {
  return reduce_scatter(persistent(function, request), sendbuf, recvbuf, of_equal(recvcount), datatype, op,
                        comm);
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Scan and MPI_Exscan in their three forms; intracommunicators only. Layer: mpi. MPI 5.0 section 6.11.

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/reduction.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/several_nodes.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

int no_intercommunicator() {
  return error(MPI_ERR_COMM,
               "comm is an intercommunicator; prefix reductions are defined for intracommunicators");
}

/// The board for a vector that the operation can be applied to where it stands in a cell.
node::Board* board_for(const Form& form, Comm& comm, const coll::Reduce& asked) {
  if (!node::dense(asked.type) || asked.count * asked.type.size > node::kMostScanned) return nullptr;
  return NodeTeam::board_for_vector(form, comm, asked.count * asked.type.size, asked.type.size);
}

int scan(const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op,
         Comm& comm) {
  if (comm.inter()) return no_intercommunicator();
  if (const int rc = check_op(op, datatype); rc != MPI_SUCCESS) return rc;
  const coll::Reduce asked = reduction(sendbuf, recvbuf, count, datatype, op, 0);
  if (overwrites(asked)) return aliased("sendbuf");
  if (node::Board* const board = board_for(form, comm, asked))
    return NodeTeam::ended(comm, *board, node::scan(*board, asked));
  if (const auto rc = several_nodes::scan(form, comm, asked)) return *rc;
  return launch(form, comm, {&datatype, &op},
                [&](Schedule& schedule, const Team& team) { coll::scan(schedule, team, asked); });
}

int exscan(const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op,
           Comm& comm) {
  if (comm.inter()) return no_intercommunicator();
  if (const int rc = check_op(op, datatype); rc != MPI_SUCCESS) return rc;
  const coll::Reduce asked = reduction(sendbuf, recvbuf, count, datatype, op, 0);
  // At rank 0 recvbuf does not count (section 6.11.2). But the members give the same buffers, as a rule; if
  // it alone went on, its vector would find nobody.
  if (overwrites(asked) && comm.size() > 1) return aliased("sendbuf");
  if (node::Board* const board = board_for(form, comm, asked))
    return NodeTeam::ended(comm, *board, node::exscan(*board, asked));
  if (const auto rc = several_nodes::exscan(form, comm, asked)) return *rc;
  return launch(form, comm, {&datatype, &op},
                [&](Schedule& schedule, const Team& team) { coll::exscan(schedule, team, asked); });
}

}  // namespace

int Scan(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
         const char* function) {
  return scan(blocking(function), sendbuf, recvbuf, count, datatype, op, comm);
}

int Iscan(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
          MPI_Request* request, const char* function) {
  return scan(nonblocking(function, request), sendbuf, recvbuf, count, datatype, op, comm);
}

int Scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
              Info*, MPI_Request* request, const char* function) {
  return scan(persistent(function, request), sendbuf, recvbuf, count, datatype, op, comm);
}

int Exscan(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
           const char* function) {
  return exscan(blocking(function), sendbuf, recvbuf, count, datatype, op, comm);
}

int Iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
            MPI_Request* request, const char* function) {
  return exscan(nonblocking(function, request), sendbuf, recvbuf, count, datatype, op, comm);
}

int Exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
                Info*, MPI_Request* request, const char* function) {
  return exscan(persistent(function, request), sendbuf, recvbuf, count, datatype, op, comm);
}

}  // namespace starling::mpi::api

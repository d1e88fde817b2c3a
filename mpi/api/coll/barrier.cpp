// SPDX-License-Identifier: BSD-3-Clause
// MPI_Barrier in its three forms. Layer: mpi. MPI 5.0 section 6.3.

#include "mpi/api.gen.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/several_nodes.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

int barrier(const Form& form, Comm& comm) {
  if (node::Board* const board = NodeTeam::board(form, comm))
    return NodeTeam::ended(comm, *board, node::barrier(*board));
  if (const auto rc = several_nodes::barrier(form, comm)) return *rc;
  return launch(form, comm, {}, [](Schedule& schedule, const Team& team) { coll::barrier(schedule, team); });
}

}  // namespace

int Barrier(Comm& comm, const char* function) { return barrier(blocking(function), comm); }

int Ibarrier(Comm& comm, MPI_Request* request, const char* function) {
  return barrier(nonblocking(function, request), comm);
}

int Barrier_init(Comm& comm, Info*, MPI_Request* request, const char* function) {
  return barrier(persistent(function, request), comm);
}

}  // namespace starling::mpi::api

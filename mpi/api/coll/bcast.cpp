// SPDX-License-Identifier: BSD-3-Clause
// MPI_Bcast in its three forms. Layer: mpi. MPI 5.0 section 6.4.

#include <algorithm>

#include "mpi/api.gen.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/several_nodes.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

/// Longer buffers go through cells of this size, one after the other: readers copy one out while the root
/// fills the next.
constexpr std::uint64_t kPiece = 16384;

int bcast(const Form& form, void* buffer, MPI_Count count, Datatype& datatype, int root, Comm& comm) {
  const coll::Bcast asked{buffer, unsigned_count(count), view(datatype), root_of(comm, root)};
  const std::uint64_t bytes = asked.count * asked.type.size;
  if (node::Board* const board =
          NodeTeam::board(form, comm, {Collective::bcast, bytes, std::min(bytes, kPiece), 1}))
    return NodeTeam::ended(comm, *board, node::bcast(*board, asked));
  if (const auto rc = several_nodes::bcast(form, comm, asked)) return *rc;
  return launch(form, comm, {&datatype},
                [&](Schedule& schedule, const Team& team) { coll::bcast(schedule, team, tuning(), asked); });
}

}  // namespace

int Bcast(void* buffer, MPI_Count count, Datatype& datatype, int root, Comm& comm, const char* function) {
  return bcast(blocking(function), buffer, count, datatype, root, comm);
}

int Ibcast(void* buffer, MPI_Count count, Datatype& datatype, int root, Comm& comm, MPI_Request* request,
           const char* function) {
  return bcast(nonblocking(function, request), buffer, count, datatype, root, comm);
}

int Bcast_init(void* buffer, MPI_Count count, Datatype& datatype, int root, Comm& comm, Info*,
               MPI_Request* request, const char* function) {
  return bcast(persistent(function, request), buffer, count, datatype, root, comm);
}

}  // namespace starling::mpi::api

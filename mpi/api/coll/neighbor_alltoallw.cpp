// SPDX-License-Identifier: BSD-3-Clause
// MPI_Neighbor_alltoallw in its three forms. Layer: mpi. MPI 5.0 sections 8.6, 8.7.

#include "mpi/api.gen.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/topology/topology.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

int neighbor_alltoallw(const Form& form, const void* sendbuf, IntArray sendcounts, const MPI_Aint sdispls[],
                       const MPI_Datatype sendtypes[], void* recvbuf, IntArray recvcounts,
                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], Comm& comm) {
  const Neighbors& neighbors = comm.topology->neighbors();
  UsedList used;
  const std::vector<Type> sent =
      views(sendtypes, static_cast<std::uint32_t>(neighbors.destinations.size()), used);
  const std::vector<Type> received =
      views(recvtypes, static_cast<std::uint32_t>(neighbors.sources.size()), used);
  coll::Alltoall asked;
  asked.send = Blocks(sendbuf, view(sendcounts), view(IntArray(sdispls)), sent.data());
  asked.receive = Blocks(recvbuf, view(recvcounts), view(IntArray(rdispls)), received.data());
  return launch(form, comm, used, [&](Schedule& schedule, const Team&) {
    coll::neighbor_alltoall(schedule, neighbors, asked);
  });
}

}  // namespace

int Neighbor_alltoallw(const void* sendbuf, IntArray sendcounts, const MPI_Aint sdispls[],
                       const MPI_Datatype sendtypes[], void* recvbuf, IntArray recvcounts,
                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], Comm& comm,
                       const char* function) {
  return neighbor_alltoallw(blocking(function), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                            rdispls, recvtypes, comm);
}

int Ineighbor_alltoallw(const void* sendbuf, IntArray sendcounts, const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, IntArray recvcounts,
                        const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], Comm& comm,
                        MPI_Request* request, const char* function) {
  return neighbor_alltoallw(nonblocking(function, request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                            recvcounts, rdispls, recvtypes, comm);
}

int Neighbor_alltoallw_init(const void* sendbuf, IntArray sendcounts, const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, IntArray recvcounts,
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], Comm& comm, Info*,
                            MPI_Request* request, const char* function) {
  return neighbor_alltoallw(persistent(function, request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                            recvcounts, rdispls, recvtypes, comm);
}

}  // namespace starling::mpi::api

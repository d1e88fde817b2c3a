// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallw in its three forms. Layer: mpi. MPI 5.0 section 6.8.

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/launch.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

/// One datatype per rank; they are added to `used`.
std::vector<Type> views(const MPI_Datatype types[], std::uint32_t ranks, std::vector<const Object*>& used) {
  std::vector<Type> result;
  result.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Datatype* const datatype = find_datatype(types[rank]);
    result.push_back(view(*datatype));
    used.push_back(datatype);
  }
  return result;
}

int alltoallw(const Form& form, const void* sendbuf, IntArray sendcounts, IntArray sdispls,
              const MPI_Datatype sendtypes[], void* recvbuf, IntArray recvcounts, IntArray rdispls,
              const MPI_Datatype recvtypes[], Comm& comm) {
  std::vector<const Object*> used;
  const std::vector<Type> received = views(recvtypes, comm.peer_count(), used);
  std::vector<Type> sent;
  coll::Alltoall asked;
  asked.in_place = sendbuf == MPI_IN_PLACE;
  if (!asked.in_place) {
    sent = views(sendtypes, comm.peer_count(), used);
    asked.send = Blocks(sendbuf, view(sendcounts), view(sdispls), sent.data());
  }
  asked.receive = Blocks(recvbuf, view(recvcounts), view(rdispls), received.data());
  auto build = [&asked](Schedule& schedule, const Team& team) {
    coll::alltoall(schedule, team, tuning(), asked);
  };
  const auto call = [](void* context, Schedule& schedule, const Team& team) {
    (*static_cast<decltype(build)*>(context))(schedule, team);
  };
  return launch_any(form, comm, used, call, &build);
}

}  // namespace

int Alltoallw(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype sendtypes[],
              void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype recvtypes[],
              Comm& comm) {
  return alltoallw(kBlocking, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                   recvtypes, comm);
}

int Ialltoallw(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype sendtypes[],
               void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype recvtypes[],
               Comm& comm, MPI_Request* request) {
  return alltoallw(nonblocking(request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                   rdispls, recvtypes, comm);
}

int Alltoallw_init(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype sendtypes[],
                   void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype recvtypes[],
                   Comm& comm, Info*, MPI_Request* request) {
  return alltoallw(persistent(request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                   recvtypes, comm);
}

}  // namespace starling::mpi::api

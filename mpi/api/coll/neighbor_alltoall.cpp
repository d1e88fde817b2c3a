// SPDX-License-Identifier: BSD-3-Clause
// MPI_Neighbor_alltoall and MPI_Neighbor_alltoallv in their three forms. Layer: mpi.
// MPI 5.0 sections 8.6, 8.7.

#include "mpi/api.gen.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/topology/topology.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

int run(const Form& form, const coll::Alltoall& asked, const Datatype& sendtype, const Datatype& recvtype,
        Comm& comm) {
  return launch(form, comm, {&sendtype, &recvtype}, [&](Schedule& schedule, const Team&) {
    coll::neighbor_alltoall(schedule, comm.topology->neighbors(), asked);
  });
}

int neighbor_alltoall(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                      void* recvbuf, MPI_Count recvcount, Datatype& recvtype, Comm& comm) {
  const Type sent = view(sendtype), received = view(recvtype);
  coll::Alltoall asked;
  asked.send = Blocks(sendbuf, unsigned_count(sendcount), sent);
  asked.receive = Blocks(recvbuf, unsigned_count(recvcount), received);
  return run(form, asked, sendtype, recvtype, comm);
}

int neighbor_alltoallv(const Form& form, const void* sendbuf, IntArray sendcounts, IntArray sdispls,
                       Datatype& sendtype, void* recvbuf, IntArray recvcounts, IntArray rdispls,
                       Datatype& recvtype, Comm& comm) {
  const Type sent = view(sendtype), received = view(recvtype);
  coll::Alltoall asked;
  asked.send = Blocks(sendbuf, view(sendcounts), view(sdispls), sent);
  asked.receive = Blocks(recvbuf, view(recvcounts), view(rdispls), received);
  return run(form, asked, sendtype, recvtype, comm);
}

}  // namespace

int Neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                      MPI_Count recvcount, Datatype& recvtype, Comm& comm, const char* function) {
  return neighbor_alltoall(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                           comm);
}

int Ineighbor_alltoall(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                       MPI_Count recvcount, Datatype& recvtype, Comm& comm, MPI_Request* request,
                       const char* function) {
  return neighbor_alltoall(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                           recvtype, comm);
}

int Neighbor_alltoall_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                           MPI_Count recvcount, Datatype& recvtype, Comm& comm, Info*, MPI_Request* request,
                           const char* function) {
  return neighbor_alltoall(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                           recvtype, comm);
}

int Neighbor_alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype,
                       void* recvbuf, IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm,
                       const char* function) {
  return neighbor_alltoallv(blocking(function), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                            rdispls, recvtype, comm);
}

int Ineighbor_alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype,
                        void* recvbuf, IntArray recvcounts, IntArray rdispls, Datatype& recvtype, Comm& comm,
                        MPI_Request* request, const char* function) {
  return neighbor_alltoallv(nonblocking(function, request), sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                            recvcounts, rdispls, recvtype, comm);
}

int Neighbor_alltoallv_init(const void* sendbuf, IntArray sendcounts, IntArray sdispls, Datatype& sendtype,
                            void* recvbuf, IntArray recvcounts, IntArray rdispls, Datatype& recvtype,
                            Comm& comm, Info*, MPI_Request* request, const char* function) {
  return neighbor_alltoallv(persistent(function, request), sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                            recvcounts, rdispls, recvtype, comm);
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Neighbor_allgather and MPI_Neighbor_allgatherv in their three forms. Layer: mpi.
// MPI 5.0 sections 8.6, 8.7.

#include "mpi/api.gen.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/topology/topology.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

/// Sends to every destination what both kinds send; they differ in where it is received.
int run(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, const Blocks& receive,
        Datatype& recvtype, Comm& comm) {
  coll::Gather asked;
  asked.send = sendbuf;
  asked.count = unsigned_count(sendcount);
  asked.type = view(sendtype);
  asked.receive = receive;
  return launch(form, comm, {&sendtype, &recvtype}, [&](Schedule& schedule, const Team&) {
    coll::neighbor_allgather(schedule, comm.topology->neighbors(), asked);
  });
}

int neighbor_allgather(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                       void* recvbuf, MPI_Count recvcount, Datatype& recvtype, Comm& comm) {
  const Type received = view(recvtype);
  const Blocks receive(recvbuf, unsigned_count(recvcount), received);
  return run(form, sendbuf, sendcount, sendtype, receive, recvtype, comm);
}

int neighbor_allgatherv(const Form& form, const void* sendbuf, MPI_Count sendcount, Datatype& sendtype,
                        void* recvbuf, IntArray recvcounts, IntArray displs, Datatype& recvtype, Comm& comm) {
  const Type received = view(recvtype);
  const Blocks receive(recvbuf, view(recvcounts), view(displs), received);
  return run(form, sendbuf, sendcount, sendtype, receive, recvtype, comm);
}

}  // namespace

int Neighbor_allgather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                       MPI_Count recvcount, Datatype& recvtype, Comm& comm, const char* function) {
  return neighbor_allgather(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                            comm);
}

int Ineighbor_allgather(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                        MPI_Count recvcount, Datatype& recvtype, Comm& comm, MPI_Request* request,
                        const char* function) {
  return neighbor_allgather(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                            recvtype, comm);
}

int Neighbor_allgather_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                            MPI_Count recvcount, Datatype& recvtype, Comm& comm, Info*, MPI_Request* request,
                            const char* function) {
  return neighbor_allgather(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                            recvtype, comm);
}

int Neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                        IntArray recvcounts, IntArray displs, Datatype& recvtype, Comm& comm,
                        const char* function) {
  return neighbor_allgatherv(blocking(function), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                             recvtype, comm);
}

int Ineighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                         IntArray recvcounts, IntArray displs, Datatype& recvtype, Comm& comm,
                         MPI_Request* request, const char* function) {
  return neighbor_allgatherv(nonblocking(function, request), sendbuf, sendcount, sendtype, recvbuf,
                             recvcounts, displs, recvtype, comm);
}

int Neighbor_allgatherv_init(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, void* recvbuf,
                             IntArray recvcounts, IntArray displs, Datatype& recvtype, Comm& comm, Info*,
                             MPI_Request* request, const char* function) {
  return neighbor_allgatherv(persistent(function, request), sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                             displs, recvtype, comm);
}

}  // namespace starling::mpi::api

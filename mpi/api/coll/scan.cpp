// SPDX-License-Identifier: BSD-3-Clause
// MPI_Scan and MPI_Exscan in their three forms; intracommunicators only. Layer: mpi. MPI 5.0 section 6.11.

#include "mpi/api.gen.hpp"
#include "mpi/api/coll/launch.hpp"
#include "mpi/api/coll/reduction.hpp"

namespace starling::mpi::api {
namespace {

using namespace coll;

int no_intercommunicator() {
  return error(MPI_ERR_COMM,
               "comm is an intercommunicator; prefix reductions are defined for intracommunicators");
}

int scan(const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op,
         Comm& comm) {
  if (comm.inter()) return no_intercommunicator();
  if (const int rc = check_op(op, datatype); rc != MPI_SUCCESS) return rc;
  const coll::Reduce asked = reduction(sendbuf, recvbuf, count, datatype, op, 0);
  return launch(form, comm, {&datatype, &op},
                [&](Schedule& schedule, const Team& team) { coll::scan(schedule, team, asked); });
}

int exscan(const Form& form, const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op,
           Comm& comm) {
  if (comm.inter()) return no_intercommunicator();
  if (const int rc = check_op(op, datatype); rc != MPI_SUCCESS) return rc;
  const coll::Reduce asked = reduction(sendbuf, recvbuf, count, datatype, op, 0);
  return launch(form, comm, {&datatype, &op},
                [&](Schedule& schedule, const Team& team) { coll::exscan(schedule, team, asked); });
}

}  // namespace

int Scan(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm) {
  return scan(kBlocking, sendbuf, recvbuf, count, datatype, op, comm);
}

int Iscan(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
          MPI_Request* request) {
  return scan(nonblocking(request), sendbuf, recvbuf, count, datatype, op, comm);
}

int Scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
              Info*, MPI_Request* request) {
  return scan(persistent(request), sendbuf, recvbuf, count, datatype, op, comm);
}

int Exscan(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm) {
  return exscan(kBlocking, sendbuf, recvbuf, count, datatype, op, comm);
}

int Iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
            MPI_Request* request) {
  return exscan(nonblocking(request), sendbuf, recvbuf, count, datatype, op, comm);
}

int Exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, Datatype& datatype, Op& op, Comm& comm,
                Info*, MPI_Request* request) {
  return exscan(persistent(request), sendbuf, recvbuf, count, datatype, op, comm);
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// Making intercommunicators from communicators, and merging them. Layer: mpi. MPI 5.0 section 7.6.2.

#include "mpi/creation/inter.hpp"

#include "mpi/api.gen.hpp"
#include "mpi/api/comm/give.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi::api {
int Intercomm_create(Comm& local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                     MPI_Comm* newintercomm) {
  *newintercomm = MPI_COMM_NULL;
  if (local_comm.inter())
    return error(MPI_ERR_COMM, "local_comm is an intercommunicator, an intracommunicator was expected");
  return give(inter_create(local_comm, local_leader, {find_comm(peer_comm), remote_leader, tag}),
              newintercomm);
}

int Intercomm_merge(Comm& intercomm, int high, MPI_Comm* newintracomm) {
  *newintracomm = MPI_COMM_NULL;
  if (!intercomm.inter())
    return error(MPI_ERR_COMM, "intercomm is an intracommunicator, an intercommunicator was expected");
  return give(inter_merge(intercomm, high != 0), newintracomm);
}

}  // namespace starling::mpi::api

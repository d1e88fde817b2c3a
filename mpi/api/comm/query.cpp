// SPDX-License-Identifier: BSD-3-Clause
// Asking a communicator. Layer: mpi. MPI 5.0 sections 7.4.1, 7.6.1, 7.4.4, 11.8.2.

#include "mpi/api.gen.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/isolation.hpp"
#include "mpi/error.hpp"
#include "mpi/group/algebra.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi::api {
namespace {

int compare(const Ref<Group>& a, const Ref<Group>& b) {
  switch (mpi::compare(*a->members(), *b->members())) {
    case Likeness::identical: return MPI_IDENT;
    case Likeness::similar: return MPI_SIMILAR;
    case Likeness::unequal: break;
  }
  return MPI_UNEQUAL;
}

MPI_Group new_group(const Ref<Group>& group, const Comm& comm) {
  return new_handle<MPI_Group>(tables().group, Ref<Group>::adopt(new Group(group->members(), comm.session)));
}

}  // namespace

/// No process is ever spawned, so none has a parent.
int Comm_get_parent(MPI_Comm* parent) {
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int Comm_size(Comm& comm, int* size) {
  *size = static_cast<int>(comm.size());
  return MPI_SUCCESS;
}

int Comm_rank(Comm& comm, int* rank) {
  *rank = static_cast<int>(comm.rank());
  return MPI_SUCCESS;
}

int Comm_group(Comm& comm, MPI_Group* group) {
  *group = new_group(comm.group(), comm);
  return *group == MPI_GROUP_NULL ? too_many("groups") : MPI_SUCCESS;
}

int Comm_test_inter(Comm& comm, int* flag) {
  *flag = comm.inter() ? 1 : 0;
  return MPI_SUCCESS;
}

int Comm_remote_size(Comm& comm, int* size) {
  if (!comm.inter())
    return error(MPI_ERR_COMM, "comm is an intracommunicator, an intercommunicator was expected");
  *size = static_cast<int>(comm.peer_count());
  return MPI_SUCCESS;
}

int Comm_remote_group(Comm& comm, MPI_Group* group) {
  if (!comm.inter())
    return error(MPI_ERR_COMM, "comm is an intracommunicator, an intercommunicator was expected");
  *group = new_group(comm.remote_group(), comm);
  return *group == MPI_GROUP_NULL ? too_many("groups") : MPI_SUCCESS;
}

int Comm_compare(Comm& comm1, Comm& comm2, int* result) {
  if (!may_meet(comm1, comm2)) return of_another_session(MPI_ERR_COMM, "comm1", "comm2");
  if (&comm1 == &comm2) {
    *result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  *result = MPI_UNEQUAL;
  if (comm1.inter() != comm2.inter()) return MPI_SUCCESS;
  int groups = compare(comm1.group(), comm2.group());
  if (comm1.inter() && groups != MPI_UNEQUAL) {
    const int remote = compare(comm1.remote_group(), comm2.remote_group());
    if (remote != MPI_IDENT) groups = remote;
  }
  *result = groups == MPI_IDENT ? MPI_CONGRUENT : groups;
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api

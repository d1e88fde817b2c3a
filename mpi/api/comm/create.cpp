// SPDX-License-Identifier: BSD-3-Clause
// Making and freeing communicators. Layer: mpi. MPI 5.0 section 7.4.

#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/api/comm/give.hpp"
#include "mpi/comm/isolation.hpp"
#include "mpi/creation/factory.hpp"
#include "mpi/creation/inter.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/request/buffered.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi::api {
int Comm_create(Comm& comm, Group& group, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  if (!may_meet(comm, group)) return of_another_session(MPI_ERR_GROUP, "comm", "group");
  const Ref<Group> members = Ref<Group>::share(&group);
  return give(comm.inter() ? inter_create_sub(comm, members) : CommFactory::create(comm, members), newcomm);
}

int Comm_create_group(Comm& comm, Group& group, int tag, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  if (comm.inter())
    return error(MPI_ERR_COMM, "comm is an intercommunicator, an intracommunicator was expected");
  if (!may_meet(comm, group)) return of_another_session(MPI_ERR_GROUP, "comm", "group");
  return give(CommFactory::create_group(comm, Ref<Group>::share(&group), tag), newcomm);
}

int Comm_split(Comm& comm, int color, int key, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  if (color < 0 && color != MPI_UNDEFINED) {
    return error(MPI_ERR_ARG, "color is " + std::to_string(color) + ", expected 0 or more, or MPI_UNDEFINED");
  }
  return give(comm.inter() ? inter_split(comm, color, key) : CommFactory::split(comm, color, key), newcomm);
}

int Comm_free(MPI_Comm* comm) {
  Comm* const found = find_comm(*comm);
  if (found == nullptr) return error(MPI_ERR_COMM, "comm is not a live communicator (freed already?)");
  if (found->predefined()) return error(MPI_ERR_COMM, "comm is " + found->name + ", which cannot be freed");
  if (const int rc = found->attributes.clear(found->handle()); rc != MPI_SUCCESS) return rc;
  if (found->bsend_buffer != nullptr) found->bsend_buffer->flush();  // the user gets the memory back
  CommFactory::release(*found);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int Comm_disconnect(MPI_Comm* comm) {
  Comm* const found = find_comm(*comm);
  if (found == nullptr) return error(MPI_ERR_COMM, "comm is not a live communicator (freed already?)");
  if (found->predefined())
    return error(MPI_ERR_COMM, "comm is " + found->name + ", which cannot be disconnected");
  Runtime::get()->drain(names::Comm_disconnect);  // section 11.10.4: waits for pending communication
  return Comm_free(comm);
}

}  // namespace starling::mpi::api

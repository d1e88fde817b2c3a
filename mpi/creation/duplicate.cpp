// SPDX-License-Identifier: BSD-3-Clause
// Duplicating communicators. What is hard: whatever fails on one process, the broadcast of the id goes on,
// since other processes wait for this one in the tree. Layer: mpi.

#include "mpi/creation/duplicate.hpp"

#include <string>

#include "mpi.h"
#include "mpi/coll/builders.hpp"
#include "mpi/creation/inter_exchange.hpp"
#include "mpi/error.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// From rank 0 of the group that leads to everybody.
void broadcast(coll::Schedule& schedule, const Comm& comm, ContextId& id) {
  coll::Type bytes;
  bytes.size = 1;
  bytes.extent = bytes.true_extent = 1;
  bytes.contiguous = true;
  const coll::Team team{static_cast<int>(comm.rank()), static_cast<int>(comm.size()),
                        comm.inter() ? static_cast<int>(comm.peer_count()) : 0, comm.inter()};
  if (!comm.inter()) {
    if (comm.size() > 1) coll::bcast_binomial(schedule, team, {&id, sizeof id, bytes, 0});
    return;
  }
  // The remote group gets it from the root, the other members of the root's group from the remote rank 0.
  const coll::Buffer buffer = coll::packed(&id, sizeof id);
  const bool root_side = leads(comm);
  const std::uint32_t first = root_side ? 0 : 1;
  if (!root_side || comm.rank() != 0) {
    schedule.receive(0, buffer);
    schedule.next_round();
  }
  if (comm.rank() != 0) return;
  for (std::uint32_t rank = first; rank < comm.peer_count(); ++rank) {
    schedule.send(static_cast<int>(rank), buffer);
  }
  schedule.next_round();
}

}  // namespace

Duplication::Duplication(Comm& parent, Ref<Info> info, Comm::Form form)
    : parent_(parent),
      info_(std::move(info)),
      form_(form),
      errhandler_(parent.errhandler),
      topology_(parent.topology),
      failure_(attributes_.copy_from(parent.handle(), parent.attributes)) {}

void Duplication::start() {
  if (parent_.rank() == 0 && (!parent_.inter() || leads(parent_))) {
    Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
    if (fresh) id_ = *fresh;  // else everybody finds that there is none
  }
  broadcast(execution_.schedule, parent_, id_);
  execution_.start(
      {&Runtime::get()->pml(), &parent_.collective_context(), parent_.next_collective_tag(form_)});
}

Made Duplication::finish() {
  if (execution_.fault() != pml::Fault::none) {
    return {fault_error(execution_.fault(), parent_, execution_.faulty_peer(), "the new context id"),
            nullptr};
  }
  if (id_ == ContextId{}) {
    return {
        error_on(parent_, MPI_ERR_OTHER, "rank 0 has led the creation of 2^29 communicators; no id is left"),
        nullptr};
  }
  const Made made = CommFactory::finish(id_, {parent_.group(), parent_.remote_group(), parent_.rank()},
                                        &parent_, parent_.session);
  if (made.comm == nullptr) return made;
  made.comm->errhandler = std::move(errhandler_);
  made.comm->attributes = std::move(attributes_);
  made.comm->topology = std::move(topology_);
  made.comm->info = std::move(info_);
  if (failure_ == MPI_SUCCESS) return made;
  (void)made.comm->attributes.clear(made.comm->handle());
  CommFactory::release(*made.comm);
  return {failure_, nullptr};
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Making communicators. What is hard: agreeing on ids without a world. From a group, the bootstrap's tree
// does it among the members; from a communicator, every process proposes an id of its own and the leader's is
// taken, in one exchange. Layer: mpi.

#include "mpi/creation/factory.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "mpi.h"
#include "mpi/creation/exchange.hpp"
#include "mpi/error.hpp"
#include "mpi/group/algebra.hpp"
#include "mpi/handles.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/session/session.hpp"

namespace starling::mpi {
namespace {

Made not_a_subset() { return failed(error(MPI_ERR_GROUP, "group is not a subset of the group of comm")); }

}  // namespace

Made CommFactory::finish(const ContextIds& ids, const Sides& sides, const Comm* parent,
                         const Ref<Session>& session) {
  Runtime& runtime = *Runtime::get();
  if (sides.remote) {  // two groups, each on a node of its own, may have needed no network so far
    if (auto reached = runtime.builder().reach(*sides.remote->members()); !reached)
      return failed(error(reached.error()));
    // No exchange has held both groups.
    if (auto exposed = runtime.bootstrap().expose(); !exposed) return failed(error(exposed.error()));
  }
  const ProcListPtr peers = sides.remote ? sides.remote->members() : sides.local->members();
  runtime.waits().hang_help().set_communicator_names(&Comm::label_of);
  Ref<Comm> comm = Ref<Comm>::adopt(new Comm(ids, sides.local, sides.remote, sides.rank));
  const Rank own{static_cast<std::int32_t>(sides.rank)};
  auto context = runtime.pml().open(ids.on(Channel::point_to_point), own, peers);
  if (!context) return failed(error(context.error()));
  comm->context_ = *context;
  auto collective = runtime.pml().open(ids.on(Channel::collective), own, peers);
  if (!collective) return failed(error(collective.error()));
  comm->collective_ = *collective;
  if (runtime.builder().plan_for(*peers).peers_now) {
    if (auto added = runtime.peers().connect(*peers); !added) return failed(error(added.error()));
  }
  comm->session = session;
  if (parent != nullptr) comm->errhandler = parent->errhandler;
  if (tables().comm.insert(comm.get()) == 0) {
    return failed(too_many("communicators"));
  }
  return {MPI_SUCCESS, comm.release()};
}

void CommFactory::release(Comm& comm) {
  tables().comm.remove(comm.handle());
  comm.drop();
}

Made CommFactory::from_group(const Ref<Group>& group, const std::string& tag, const Ref<Session>& session) {
  const auto rank = group->find(Runtime::get()->self());
  if (!rank) return failed(error(MPI_ERR_GROUP, "group does not contain the calling process"));
  Result<ContextId> id = Runtime::get()->builder().agree(group->members(), tag);
  if (!id) return failed(error(id.error()));
  return finish(*id, {group, {}, *rank}, nullptr, session);
}

Made CommFactory::self(const Ref<Session>& session) {
  Runtime& runtime = *Runtime::get();
  Result<ContextId> id = runtime.bootstrap().next_context_id();
  if (!id) return failed(error(id.error()));
  return finish(*id, {Ref<Group>::adopt(new Group(make_strided(runtime.self(), 1, 1))), {}, 0}, nullptr,
                session);
}

Made CommFactory::duplicate(Comm& parent) {
  ContextId id;
  if (parent.rank() == 0) {
    Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
    if (!fresh) return failed(error(fresh.error()));
    id = *fresh;
  }
  if (const int rc = bcast_bytes(parent, bytes_of(id), 0); rc != MPI_SUCCESS) return failed(rc);
  return finish(id, {parent.group(), {}, parent.rank()}, &parent, parent.session);
}

Made CommFactory::create(Comm& parent, const Ref<Group>& group) {
  // Disjoint groups may be given by different members (section 7.4.2), so the leader of each group proposes
  // its own id.
  const auto rank = group->find(Runtime::get()->self());
  ContextId mine;
  if (rank && *rank == 0) {
    Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
    if (!fresh) return failed(error(fresh.error()));
    mine = *fresh;
  }
  std::vector<ContextId> all(parent.size());
  const int rc = allgather_bytes(parent, bytes_of(mine), std::as_writable_bytes(std::span(all)));
  if (rc != MPI_SUCCESS) return failed(rc);
  if (!rank) return {MPI_SUCCESS, nullptr};
  if (!includes(*parent.group()->members(), *group->members())) return not_a_subset();
  const std::uint32_t leader = *parent.group()->find(group->at(0));
  return finish(all[leader], {group, {}, *rank}, &parent, parent.session);
}

Made CommFactory::create_group(Comm& parent, const Ref<Group>& group, int tag) {
  const auto rank = group->find(Runtime::get()->self());
  if (!rank) return {MPI_SUCCESS, nullptr};
  if (!includes(*parent.group()->members(), *group->members())) return not_a_subset();
  Result<ContextId> id = Runtime::get()->builder().agree(
      group->members(), "comm " + std::to_string(parent.id().bits) + " tag " + std::to_string(tag));
  if (!id) return failed(error(id.error()));
  return finish(*id, {group, {}, *rank}, &parent, parent.session);
}

Made CommFactory::split(Comm& parent, int color, int key) {
  struct Entry {
    std::int32_t color;
    std::int32_t key;
    ContextId proposal;
  };
  Entry mine{color, key, {}};
  Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
  if (!fresh) return failed(error(fresh.error()));
  mine.proposal = *fresh;
  std::vector<Entry> all(parent.size());
  const int rc = allgather_bytes(parent, bytes_of(mine), std::as_writable_bytes(std::span(all)));
  if (rc != MPI_SUCCESS) return failed(rc);
  if (color == MPI_UNDEFINED) return {MPI_SUCCESS, nullptr};

  std::vector<std::uint32_t> ranks;
  for (std::uint32_t i = 0; i < parent.size(); ++i) {
    if (all[i].color == color) ranks.push_back(i);
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return all[a].key < all[b].key; });
  std::vector<ProcId> procs;
  procs.reserve(ranks.size());
  std::uint32_t own = 0;
  for (const std::uint32_t rank : ranks) {
    if (rank == parent.rank()) own = static_cast<std::uint32_t>(procs.size());
    procs.push_back(parent.group()->at(rank));
  }
  // Ids stay unique: every process proposed one of its own, and the new communicator takes its first
  // member's.
  return finish(all[ranks.front()].proposal,
                {Ref<Group>::adopt(new Group(make_list(std::move(procs)))), {}, own}, &parent,
                parent.session);
}

}  // namespace starling::mpi

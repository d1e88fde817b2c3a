// SPDX-License-Identifier: BSD-3-Clause
// Making intercommunicators and merging them. What is hard: only the leaders know both groups, so what one of
// them finds wrong, and who is in the other group, has to reach the members. Layer: mpi.

#include "mpi/creation/inter.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "mpi.h"
#include "mpi/comm/isolation.hpp"
#include "mpi/creation/exchange.hpp"
#include "mpi/creation/inter_exchange.hpp"
#include "mpi/creation/messages.hpp"
#include "mpi/error.hpp"
#include "mpi/group/algebra.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

constexpr const char* kOverlap = "the two groups have a process in common; they must be disjoint";

/// What one leader tells: its group and its proposal for the id, or why it gives up. The members of a group
/// that is not strided follow in a message of their own.
struct Card {
  ContextId id;
  ProcId first;
  std::int64_t stride = 1;
  std::uint32_t count = 0;
  std::uint32_t listed = 0;
  std::int32_t error_class = MPI_SUCCESS;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Card) == 40);

/// A group on its way: the card, and the members where the card does not say who they are.
struct Described {
  Card card;
  std::vector<ProcId> members;

  Described() = default;
  explicit Described(const ProcList& list) {
    card.count = list.size();
    if (const auto strided = strided_form(list)) {
      card.first = strided->first;
      card.stride = strided->stride;
      return;
    }
    card.listed = 1;
    for (std::uint32_t i = 0; i < list.size(); ++i) members.push_back(list.at(i));
  }
  void make_room() { members.resize(card.listed != 0 ? card.count : 0); }
  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(members)); }
  [[nodiscard]] Ref<Group> group() const {
    return Ref<Group>::adopt(
        new Group(card.listed != 0 ? make_list(members) : make_strided(card.first, card.stride, card.count)));
  }
};

/// From the leader of `local` to its members; returns the error that it tells, or that of a broadcast.
int spread(Comm& local, int leader, Described& remote) {
  const auto root = static_cast<std::uint32_t>(leader);
  if (const int rc = bcast_bytes(local, bytes_of(remote.card), root); rc != MPI_SUCCESS) return rc;
  if (remote.card.error_class != MPI_SUCCESS) {
    // The leader itself has noted what it found.
    return local.rank() == root ? remote.card.error_class
                                : error(remote.card.error_class, "the leader of this group found an error");
  }
  remote.make_room();
  return remote.card.listed != 0 ? bcast_bytes(local, remote.bytes(), root) : MPI_SUCCESS;
}

bool overlap(const Group& a, const Group& b) {
  return intersection_of(a.members(), b.members())->size() != 0;
}

/// The collective channel of `peer` carries the exchange of the leaders, so that no receive of the user takes
/// it away; negative tags are not used by collectives, -1 and -2 are wildcards.
Tag leaders_tag(int tag) { return Tag{-8 - tag % (std::numeric_limits<int>::max() - 8)}; }

/// What the leaders do: both tell their groups, both find out whether they overlap. A leader that was given a
/// rank or a tag out of range does not know who waits for it: that one goes on waiting, as with other MPIs.
int meet(const Comm& local, const Bridge& bridge, Described& remote) {
  if (bridge.peer == nullptr) return error(MPI_ERR_COMM, "peer_comm is not a live communicator");
  Comm& peer = *bridge.peer;
  if (!may_meet(local, peer)) return of_another_session(MPI_ERR_COMM, "local_comm", "peer_comm");
  if (bridge.remote_leader < 0 || static_cast<std::uint32_t>(bridge.remote_leader) >= peer.peer_count()) {
    return error(MPI_ERR_RANK, "remote_leader is " + std::to_string(bridge.remote_leader) + ", expected 0.." +
                                   std::to_string(peer.peer_count() - 1));
  }
  if (bridge.tag < 0)
    return error(MPI_ERR_TAG, "tag is " + std::to_string(bridge.tag) + ", expected 0 or more");
  const auto other = static_cast<std::uint32_t>(bridge.remote_leader);
  const Messages messages{peer, leaders_tag(bridge.tag), "the creation of an intercommunicator"};
  Described mine(*local.group()->members());
  Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
  if (fresh) {
    mine.card.id = *fresh;
  } else {
    mine.card.error_class = error(fresh.error());
  }
  if (const int rc = messages.swap(other, bytes_of(mine.card), other, bytes_of(remote.card));
      rc != MPI_SUCCESS)
    return rc;
  if (mine.card.error_class != MPI_SUCCESS) return mine.card.error_class;
  if (remote.card.error_class != MPI_SUCCESS)
    return error(remote.card.error_class, "the leader of the remote group found an error");
  remote.make_room();
  if (const int rc = messages.swap(other, mine.bytes(), other, remote.bytes()); rc != MPI_SUCCESS) return rc;
  const Ref<Group> theirs = remote.group();
  if (overlap(*local.group(), *theirs)) return error(MPI_ERR_COMM, kOverlap);
  // Both leaders have made an id; that of the lower first member is taken.
  if (local.group()->at(0) < theirs->at(0)) remote.card.id = mine.card.id;
  return MPI_SUCCESS;
}

int bad_leader(int leader, std::uint32_t size) {
  return error(MPI_ERR_RANK,
               "local_leader is " + std::to_string(leader) + ", expected 0.." + std::to_string(size - 1));
}

bool in_range(int rank, std::uint32_t size) { return rank >= 0 && static_cast<std::uint32_t>(rank) < size; }

/// What the leader does where there is no communicator: agrees on an id with the other leader.
int meet_by_name(const Group& local, int local_leader, Group* remote, int remote_leader,
                 const std::string& tag, Described& told) {
  if (remote == nullptr) return error(MPI_ERR_GROUP, "remote_group is not a live group");
  if (!may_meet(local, *remote)) return of_another_session(MPI_ERR_GROUP, "local_group", "remote_group");
  if (!in_range(remote_leader, remote->size())) {
    return error(MPI_ERR_RANK, "remote_leader is " + std::to_string(remote_leader) +
                                   ", which is no rank of " + "remote_group (size " +
                                   std::to_string(remote->size()) + ")");
  }
  if (overlap(local, *remote)) return error(MPI_ERR_GROUP, kOverlap);
  const ProcId mine = local.at(static_cast<std::uint32_t>(local_leader));
  const ProcId theirs = remote->at(static_cast<std::uint32_t>(remote_leader));
  const ProcListPtr leaders =
      make_list({std::min(mine, theirs), std::max(mine, theirs)});  // alike on both sides
  Result<ContextId> id = Runtime::get()->builder().agree(leaders, "leaders " + tag);
  if (!id) return error(id.error());
  told = Described(*remote->members());
  told.card.id = *id;
  return MPI_SUCCESS;
}

/// No exchange has held both groups. Where the process manager shows values after a fence only, nobody can
/// ask for single addresses later, so all members of both groups, who all come here, exchange theirs now.
int acquaint(const Group& local, const Group& remote, ContextId id) {
  Runtime& runtime = *Runtime::get();
  if (runtime.pmi().capabilities().get_without_fence) return MPI_SUCCESS;
  std::vector<ProcId> both;
  both.reserve(std::size_t{local.size()} + remote.size());
  for (std::uint32_t i = 0; i < local.size(); ++i) both.push_back(local.at(i));
  for (std::uint32_t i = 0; i < remote.size(); ++i) both.push_back(remote.at(i));
  std::sort(both.begin(), both.end());  // alike on both sides
  const ProcListPtr members = make_list(std::move(both));
  if (auto reached = runtime.builder().reach(*members); !reached) return error(reached.error());
  if (runtime.builder().plan_for(*members).exchange == StartupPlan::Exchange::none) return MPI_SUCCESS;
  const auto met = runtime.builder().agree(members, "sides of " + std::to_string(id.bits));
  return met ? MPI_SUCCESS : error(met.error());
}

}  // namespace

Made inter_create(Comm& local, int local_leader, const Bridge& bridge) {
  if (!in_range(local_leader, local.size())) return failed(bad_leader(local_leader, local.size()));
  Described remote;
  if (static_cast<int>(local.rank()) == local_leader) remote.card.error_class = meet(local, bridge, remote);
  if (const int rc = spread(local, local_leader, remote); rc != MPI_SUCCESS) return failed(rc);
  const Ref<Group> theirs = remote.group();
  if (const int rc = acquaint(*local.group(), *theirs, remote.card.id); rc != MPI_SUCCESS) return failed(rc);
  return CommFactory::finish(remote.card.id, {local.group(), theirs, local.rank()}, &local, local.session);
}

Made inter_from_groups(const Ref<Group>& local, int local_leader, Group* remote, int remote_leader,
                       const std::string& tag) {
  if (!in_range(local_leader, local->size())) return failed(bad_leader(local_leader, local->size()));
  const Made among = CommFactory::from_group(local, "inter " + tag, local->session());
  if (among.comm == nullptr) return among;
  Described told;
  if (static_cast<int>(among.comm->rank()) == local_leader) {
    const int rc = meet_by_name(*local, local_leader, remote, remote_leader, tag, told);
    told.card.error_class = rc;
  }
  const int rc = spread(*among.comm, local_leader, told);
  const std::uint32_t rank = among.comm->rank();
  CommFactory::release(*among.comm);
  if (rc != MPI_SUCCESS) return failed(rc);
  const Ref<Group> theirs = told.group();
  if (const int met = acquaint(*local, *theirs, told.card.id); met != MPI_SUCCESS) return failed(met);
  return CommFactory::finish(told.card.id, {local, theirs, rank}, nullptr, local->session());
}

Made inter_merge(Comm& inter, bool high) {
  struct Vote {
    ContextId id;
    std::uint64_t high;
  };
  Vote ours{{}, high ? 1u : 0u};
  Vote theirs{};
  if (inter.rank() == 0) {
    Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
    if (fresh) ours.id = *fresh;
  }
  if (const int rc = share_of_roots(inter, bytes_of(ours), bytes_of(theirs)); rc != MPI_SUCCESS)
    return failed(rc);
  if (ours.id == ContextId{} || theirs.id == ContextId{})
    return failed(error(MPI_ERR_OTHER, "a leader has no context id left"));
  // Equal wishes: any order that both groups see alike.
  const bool first = ours.high != theirs.high ? ours.high == 0 : leads(inter);
  const Group& low = first ? *inter.group() : *inter.remote_group();
  const Group& top = first ? *inter.remote_group() : *inter.group();
  std::vector<ProcId> procs;
  procs.reserve(std::size_t{low.size()} + top.size());
  for (std::uint32_t i = 0; i < low.size(); ++i) procs.push_back(low.at(i));
  for (std::uint32_t i = 0; i < top.size(); ++i) procs.push_back(top.at(i));
  const std::uint32_t rank = first ? inter.rank() : low.size() + inter.rank();
  return CommFactory::finish(first ? ours.id : theirs.id,
                             {Ref<Group>::adopt(new Group(make_list(std::move(procs)))), {}, rank}, &inter,
                             inter.session);
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Subgroups of an intercommunicator's two sides. Every process tells both groups what it wants and an id of
// its own; the first member of the side that leads gives the new communicator its id. Layer: mpi.

#include <algorithm>
#include <vector>

#include "mpi.h"
#include "mpi/creation/inter.hpp"
#include "mpi/creation/inter_exchange.hpp"
#include "mpi/error.hpp"
#include "mpi/group/algebra.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// What one process wants: which new communicator (negative: none) and where in it.
struct Wish {
  std::int32_t color = -1;
  std::int32_t key = 0;
  ContextId proposal;
};

/// Ranks of those who want `color`, by key and then rank.
std::vector<std::uint32_t> members(const std::vector<Wish>& wishes, std::int32_t color) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t i = 0; i < wishes.size(); ++i) {
    if (wishes[i].color == color) ranks.push_back(i);
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return wishes[a].key < wishes[b].key; });
  return ranks;
}

Ref<Group> group_of(const Group& parent, const std::vector<std::uint32_t>& ranks) {
  std::vector<ProcId> procs;
  procs.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) procs.push_back(parent.at(rank));
  return Ref<Group>::adopt(new Group(make_list(std::move(procs))));
}

Made make(Comm& parent, Wish mine) {
  Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
  if (fresh) mine.proposal = *fresh;
  std::vector<Wish> ours(parent.size());
  std::vector<Wish> theirs(parent.peer_count());
  const int rc =
      allgather_groups(parent, std::as_bytes(std::span<const Wish, 1>(&mine, 1)),
                       std::as_writable_bytes(std::span(ours)), std::as_writable_bytes(std::span(theirs)));
  if (rc != MPI_SUCCESS) return {rc, nullptr};
  if (mine.color < 0) return {MPI_SUCCESS, nullptr};
  const std::vector<std::uint32_t> here = members(ours, mine.color);
  const std::vector<std::uint32_t> there = members(theirs, mine.color);
  if (there.empty()) return {MPI_SUCCESS, nullptr};  // one side alone makes no intercommunicator
  const ContextId id = leads(parent) ? ours[here.front()].proposal : theirs[there.front()].proposal;
  if (id == ContextId{})
    return {error(MPI_ERR_OTHER, "a member has led the creation of 2^29 communicators"), nullptr};
  const auto own = std::find(here.begin(), here.end(), parent.rank());
  return CommFactory::finish(id,
                             {group_of(*parent.group(), here), group_of(*parent.remote_group(), there),
                              static_cast<std::uint32_t>(own - here.begin())},
                             &parent, parent.session);
}

}  // namespace

Made inter_split(Comm& parent, int color, int key) {
  return make(parent, {color == MPI_UNDEFINED ? -1 : color, key, {}});
}

Made inter_create_sub(Comm& parent, const Ref<Group>& group) {
  // All members of a side give the same group: one color, with the rank in it as the key.
  const bool subset = includes(*parent.group()->members(), *group->members());
  const auto rank = group->find(parent.group()->at(parent.rank()));
  const Made made = make(parent, {rank && subset ? 0 : -1, rank ? static_cast<std::int32_t>(*rank) : 0, {}});
  if (subset) return made;
  return {error(MPI_ERR_GROUP, "group is not a subset of the local group of comm"), nullptr};
}

}  // namespace starling::mpi

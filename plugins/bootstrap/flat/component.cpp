// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/flat: a fence where the plan wants one, then the agreement. Layer: plugin.

#include "plugins/bootstrap/flat/component.hpp"

#include <string>

#include "core/log.hpp"
#include "core/worlds.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "frameworks/bootstrap/table.hpp"

namespace starling::bootstrap {

Flat::Flat(const Args& args)
    : pmi_(args.pmi),
      control_channel_(args.control_channel),
      self_(args.self),
      nodes_(args.nodes),
      world_size_(args.world_size),
      mode_(args.params.choice<GroupMode>(kGroupMode)),
      card_client_(args.pmi, static_cast<std::uint64_t>(args.params.integer(kTimeout))),
      exchanges_(args.world_size),
      consistency_(args.control_channel, args.settings, args.worlds,
                   [this](ProcId proc) { return reaches(proc); }),
      agreement_(args.control_channel, args.self, args.nodes, consistency_) {}

Result<ContextId> Flat::create(const Creation& creation, Deadline deadline) {
  const Consistency::Call call(consistency_, creation);
  if (auto met = prepare(call, deadline); !met) {
    const Error error = consistency_.explain(call, std::move(met).error(), neighbours(call));
    consistency_.tell(call, error, neighbours(call));
    return fail(error);
  }
  return agreement_.agree(call, deadline);
}

/// What comes before the agreement.
Result<void> Flat::prepare(const Consistency::Call& call, Deadline deadline) {
  const Creation& creation = call.creation();
  if (creation.exchange || creation.lookup || creation.world) {
    if (auto put = card_client_.expose(); !put) return put;
  }
  const FindFailure find_failure = [&] {
    consistency_.look(call, [&] { return neighbours(call); });
    return consistency_.failure(call);
  };
  if (creation.world) {
    if (auto met = meet_with_world(control_channel_, exchanges_, deadline, find_failure); !met) return met;
  }
  if (!creation.exchange && !creation.ready) return {};
  if (auto possible = can_meet(creation); !possible) return possible;
  const bool groups =
      pmi_.capabilities().group_fence && !is_whole_world(*creation.members, self_.world, world_size_);
  return meet(control_channel_, groups, exchanges_, creation.members, text_of(call.key()), deadline,
              find_failure);
}

std::vector<ProcId> Flat::neighbours(const Consistency::Call& call) const {
  const TreePlace place = place_in_tree(call.creation().members, self_, nodes_, Agreement::kArity);
  std::vector<ProcId> procs = place.children;
  if (place.parent) procs.push_back(*place.parent);
  return procs;
}

bool Flat::reaches(ProcId proc) {
  if (on_one_node(nodes_, proc, self_)) return true;
  if (card_client_.own_card().empty()) return true;  // no address is published: all are computed
  const auto card = card_client_.card(proc);
  return card && card->what == btl::Found::What::address;
}

/// A fence of the world ends only if all processes of the job enter it; those outside of the group have no
/// reason to, and this is known before anybody waits.
Result<void> Flat::can_meet(const Creation& creation) const {
  if (pmi_.capabilities().group_fence || is_whole_world(*creation.members, self_.world, world_size_) ||
      mode_ == GroupMode::world || exchanges_.covers(*creation.members))
    return {};
  return fail(Errc::unsupported, "bootstrap=flat",
              "the process manager (" + pmi_.capabilities().server + ") has no fences of groups, so " +
                  std::to_string(creation.members->size()) + " of " + std::to_string(world_size_) +
                  " processes cannot make a communicator by themselves before all have made one "
                  "(MPI_Init does); expected bootstrap=hierarchical, the default, or, if every process of "
                  "the job makes a communicator at the same time, bootstrap_group_mode=world");
}

void Flat::on_block(ProcId from, Block block) noexcept {
  if (consistency_.take(from, block)) return;
  if (consistency_.differ(
          block.settings)) {  // who sends it has another bootstrap, and shall be asked and told
    auto card = block.bytes == nullptr ? std::vector<std::byte>() : card_in(*block.bytes, from);
    if (!card.empty()) card_client_.learn(from, std::move(card));
    return;
  }
  log::error("an address table from rank " + std::to_string(from.rank) +
             " was dropped: with bootstrap=flat there are none");
}

}  // namespace starling::bootstrap

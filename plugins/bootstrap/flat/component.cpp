// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/flat: a fence where the plan wants one, then the agreement. Layer: plugin.

#include "plugins/bootstrap/flat/component.hpp"

#include <string>

#include "core/log.hpp"
#include "frameworks/bootstrap/params.hpp"

namespace starling::bootstrap {

Flat::Flat(const Args& args)
    : pmi_(args.pmi),
      courier_(args.courier),
      world_size_(args.world_size),
      mode_(args.params.choice<GroupMode>(kGroupMode)),
      desk_(args.pmi, static_cast<std::uint64_t>(args.params.integer(kTimeout))),
      exchanges_(args.world_size),
      agreement_(args.courier, args.self, args.nodes) {}

Result<ContextId> Flat::create(const Creation& creation, Deadline deadline) {
  if (creation.exchange || creation.lookup) {
    if (auto put = desk_.expose(); !put) return fail(std::move(put).error());
  }
  if (creation.exchange || creation.ready) {
    if (auto possible = can_meet(creation); !possible) return fail(std::move(possible).error());
    const Key group = group_key(*creation.members, creation.tag + " fence");
    const std::string tag = text_of(creation_key(group, epochs_[group]++));
    const bool groups = pmi_.capabilities().group_fence && creation.members->size() < world_size_;
    auto met = meet(courier_, groups, exchanges_, creation.members, tag, deadline);
    if (!met) return fail(std::move(met).error());
  }
  return agreement_.agree(creation, deadline);
}

/// A fence of the world ends only if all processes of the job enter it; those outside of the group have no
/// reason to, and this is known before anybody waits.
Result<void> Flat::can_meet(const Creation& creation) const {
  if (pmi_.capabilities().group_fence || creation.members->size() >= world_size_ ||
      mode_ == GroupMode::world || exchanges_.covers(*creation.members))
    return {};
  return fail(Errc::unsupported, "bootstrap=flat",
              "the process manager (" + pmi_.capabilities().server + ") has no fences of groups, so " +
                  std::to_string(creation.members->size()) + " of " + std::to_string(world_size_) +
                  " processes cannot make a communicator by themselves before all have made one "
                  "(MPI_Init does); expected bootstrap=hierarchical, the default, or, if every process of "
                  "the job makes a communicator at the same time, bootstrap_group_mode=world");
}

void Flat::on_block(ProcId from, Block) noexcept {
  log::error("an address table from rank " + std::to_string(from.rank) +
             " was dropped: with bootstrap=flat there are none; do all processes have the same parameters?");
}

}  // namespace starling::bootstrap

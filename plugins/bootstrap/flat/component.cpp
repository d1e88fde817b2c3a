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
      desk_(args.pmi, static_cast<std::uint64_t>(args.params.integer(kTimeout))),
      exchanges_(args.world_size),
      agreement_(args.courier, args.self, args.nodes) {}

Result<ContextId> Flat::create(const Creation& creation, Deadline deadline) {
  if (creation.exchange || creation.lookup) {
    if (auto put = desk_.expose(); !put) return fail(std::move(put).error());
  }
  if (creation.exchange || creation.ready) {
    const Key group = group_key(*creation.members, creation.tag + " fence");
    const std::string tag = text_of(creation_key(group, epochs_[group]++));
    const bool groups = pmi_.capabilities().group_fence && creation.members->size() < world_size_;
    auto met = meet(courier_, groups, exchanges_, creation.members, tag, deadline);
    if (!met) return fail(std::move(met).error());
  }
  return agreement_.agree(creation, deadline);
}

void Flat::on_block(ProcId from, Block) noexcept {
  log::error("an address table from rank " + std::to_string(from.rank) +
             " was dropped: with bootstrap=flat there are none; do all processes have the same parameters?");
}

}  // namespace starling::bootstrap

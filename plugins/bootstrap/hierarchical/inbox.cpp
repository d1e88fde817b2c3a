// SPDX-License-Identifier: BSD-3-Clause
// Layer: plugin.

#include "plugins/bootstrap/hierarchical/inbox.hpp"

#include <utility>

#include "core/expects.hpp"

namespace starling::bootstrap {

void Inbox::put(ProcId from, Block block) {
  Entry& entry = entries_[block.key];
  if (entry.given_up) return;
  if (block.kind == BlockKind::failed) {
    entry.dead = ProcId{from.world, static_cast<std::uint32_t>(block.context.bits)};
  } else {
    entry.from[from].push_back(std::move(block));
  }
}

std::optional<ProcId> Inbox::dead(const Key& key) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? std::nullopt : entry->second.dead;
}

bool Inbox::has(const Key& key, ProcId from) const {
  const auto entry = entries_.find(key);
  return entry != entries_.end() && entry->second.from.contains(from);
}

std::optional<ProcId> Inbox::ended_by(const Key& key) const {
  const auto entry = entries_.find(key);
  return entry != entries_.end() && entry->second.given_up ? entry->second.dead : std::nullopt;
}

Block Inbox::take(const Key& key, ProcId from) {
  const auto entry = entries_.find(key);
  expects(entry != entries_.end(), "a block is taken that has not come");
  const auto queue = entry->second.from.find(from);
  expects(queue != entry->second.from.end(), "a block is taken that has not come");
  Block block = std::move(queue->second.front());
  queue->second.pop_front();
  if (queue->second.empty()) entry->second.from.erase(queue);
  return block;
}

void Inbox::close(const Key& key, bool given_up, std::optional<ProcId> dead) {
  if (given_up) {
    entries_[key] = Entry{.given_up = true, .dead = dead, .from = {}};
  } else {
    entries_.erase(key);
  }
}

}  // namespace starling::bootstrap

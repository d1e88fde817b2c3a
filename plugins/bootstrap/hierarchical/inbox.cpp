// SPDX-License-Identifier: BSD-3-Clause
// Layer: plugin.

#include "plugins/bootstrap/hierarchical/inbox.hpp"

#include <utility>

#include "core/expects.hpp"

namespace starling::bootstrap {

void Inbox::put(ProcId from, Block block) {
  std::deque<Block>& queue = entries_[block.key][from];
  if (block.kind == BlockKind::up) queue.clear();  // a member waits in one call at most
  queue.push_back(std::move(block));
}

void Inbox::withdraw(const Key& key, ProcId from, std::uint64_t call) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  const auto queue = entry->second.find(from);
  if (queue == entry->second.end() || queue->second.front().call != call) return;
  entry->second.erase(queue);
  if (entry->second.empty()) entries_.erase(entry);
}

bool Inbox::has(const Key& key, ProcId from) const {
  const auto entry = entries_.find(key);
  return entry != entries_.end() && entry->second.contains(from);
}

Block Inbox::take(const Key& key, ProcId from) {
  expects(has(key, from), "a block is taken that has not come");
  Queues& queues = entries_.at(key);
  const auto queue = queues.find(from);
  Block block = std::move(queue->second.front());
  queue->second.pop_front();
  if (queue->second.empty()) queues.erase(queue);
  return block;
}

void Inbox::close(const Key& key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  std::erase_if(entry->second, [](const auto& queue) { return queue.second.front().kind != BlockKind::up; });
  if (entry->second.empty()) entries_.erase(entry);
}

}  // namespace starling::bootstrap

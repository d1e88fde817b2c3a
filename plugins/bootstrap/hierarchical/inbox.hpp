// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Blocks that have arrived and were not read, by creation and sender. Layer: plugin.
///
/// A block may come before this process has entered its creation: it waits here until it is read or
/// withdrawn.
/// Threads: under the runtime's lock.

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>

#include "core/ids.hpp"
#include "frameworks/bootstrap/block.hpp"

namespace starling::bootstrap {

class Inbox {
 public:
  void put(ProcId from, Block block);
  /// Removes the block of a sender that does not wait any more.
  void withdraw(const Key& key, ProcId from, std::uint64_t call);
  [[nodiscard]] bool has(const Key& key, ProcId from) const;
  /// The next block of a sender, which must be there.
  [[nodiscard]] Block take(const Key& key, ProcId from);
  /// Forgets a creation of this process, except for tables from members that wait for its next one.
  void close(const Key& key);
  [[nodiscard]] std::size_t open() const noexcept { return entries_.size(); }

 private:
  using Queues = std::map<ProcId, std::deque<Block>>;
  std::unordered_map<Key, Queues, KeyHash> entries_;
};

}  // namespace starling::bootstrap

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Blocks that have arrived and were not read, by creation and sender. Layer: plugin.
///
/// A block may come before this process has entered its creation: it waits here.
/// Threads: under the runtime's lock.

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/ids.hpp"
#include "frameworks/bootstrap/block.hpp"

namespace starling::bootstrap {

class Inbox {
 public:
  void put(ProcId from, Block block);
  [[nodiscard]] bool has(const Key& key, ProcId from) const;
  /// The member whose death has ended a creation, as another has told.
  [[nodiscard]] std::optional<ProcId> dead(const Key& key) const;
  /// The same of one that this process has given up for that.
  [[nodiscard]] std::optional<ProcId> ended_by(const Key& key) const;
  /// The next block of a sender, which must be there.
  [[nodiscard]] Block take(const Key& key, ProcId from);
  /// Forgets a creation. Given up: later blocks are dropped. `dead`: the member whose death has ended it.
  void close(const Key& key, bool given_up, std::optional<ProcId> dead);
  [[nodiscard]] std::size_t open() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    bool given_up = false;
    std::optional<ProcId> dead;
    std::map<ProcId, std::deque<Block>> from;
  };
  std::unordered_map<Key, Entry, KeyHash> entries_;
};

}  // namespace starling::bootstrap

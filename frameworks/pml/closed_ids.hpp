// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which context ids this process has closed. Layer: framework (pml).
///
/// Late messages are dropped, early ones are kept: this tells them apart. An id is never used twice and its
/// counter grows per leader, so the closed counters of one leader are nearly always one range. They are kept
/// as ranges, at most kRangesMax per leader; beyond that the two lowest become one. An id in a gap that was
/// closed up so would be taken for a late one: it would have to be opened here after a thousand younger
/// contexts of the same leader that this process opened and closed, in separate runs.
/// The channels of one communicator share a counter: all that will be used are opened before the first is
/// closed.
/// Threads: the pml's. Ownership: values only. Errors: none.

#include <cstdint>
#include <map>
#include <unordered_map>

#include "core/ids.hpp"

namespace starling::pml {

class ClosedIds {
 public:
  static constexpr std::size_t kRangesMax = 1024;

  void add(ContextId id) {
    Ranges& ranges = leaders_[leader(id)];
    const std::uint32_t counter = counter_of(id);
    auto after = ranges.upper_bound(counter);  // first range that starts beyond
    auto into = ranges.end();
    if (after != ranges.begin()) {
      auto before = std::prev(after);
      if (counter <= before->second) return;
      if (before->second + 1 == counter) {
        before->second = counter;
        into = before;
      }
    }
    if (into == ranges.end()) into = ranges.emplace_hint(after, counter, counter);
    if (after != ranges.end() && counter + 1 == after->first) {
      into->second = after->second;
      ranges.erase(after);
    }
    if (ranges.size() > kRangesMax) {
      const auto second = std::next(ranges.begin());
      ranges.begin()->second = second->second;
      ranges.erase(second);
    }
  }
  [[nodiscard]] bool contains(ContextId id) const {
    const auto found = leaders_.find(leader(id));
    if (found == leaders_.end()) return false;
    const std::uint32_t counter = counter_of(id);
    auto after = found->second.upper_bound(counter);
    return after != found->second.begin() && counter <= std::prev(after)->second;
  }
  /// Ranges held for the leader of `id`.
  [[nodiscard]] std::size_t ranges(ContextId id) const {
    const auto found = leaders_.find(leader(id));
    return found == leaders_.end() ? 0 : found->second.size();
  }

 private:
  using Ranges = std::map<std::uint32_t, std::uint32_t>;  // first counter -> last
  static std::uint32_t leader(ContextId id) noexcept { return static_cast<std::uint32_t>(id.bits >> 32); }
  static std::uint32_t counter_of(ContextId id) noexcept {
    return static_cast<std::uint32_t>(id.bits & 0xffffffffu) >> 3;
  }
  std::unordered_map<std::uint32_t, Ranges> leaders_;
};

}  // namespace starling::pml

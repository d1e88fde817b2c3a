// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The name of a creation: which members, which tag. Layer: framework.
///
/// All members compute the same 128 bits from facts that they share: the set of members (in any order), each
/// as the name of its world and its rank there, and the string tag. The index of a world is no such fact:
/// each process is in world 0 to itself, and two jobs that meet would give one name to two creations. Two
/// creations that run at once differ in one of them, so their messages never mix. Those that follow each
/// other have the same name: docs/design/startup.md says why that is enough.
/// Threads: pure functions.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/proc_list.hpp"
#include "core/worlds.hpp"

namespace starling::bootstrap {

struct Key {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    return static_cast<std::size_t>(key.high ^ key.low);
  }
};

/// Hash of the set of members and the tag; the same for every order of the same members. `worlds` knows the
/// worlds of all of them.
[[nodiscard]] Key group_key(const Worlds& worlds, const ProcList& members, std::string_view tag);
/// Hash of the members in their order: equal for equal lists.
[[nodiscard]] std::uint64_t order_of(const Worlds& worlds, const ProcList& members);

/// A key as text, for names and tags that others must compute alike.
[[nodiscard]] std::string text_of(const Key& key);

/// Members of one world in ascending order as a function of position, without a copy where they already are
/// ascending.
class Sorted {
 public:
  explicit Sorted(ProcListPtr members);
  [[nodiscard]] std::uint32_t size() const noexcept { return members_->size(); }
  [[nodiscard]] ProcId at(std::uint32_t position) const noexcept {
    return order_.empty() ? members_->at(position) : order_[position];
  }
  /// Position of a member; it must be one.
  [[nodiscard]] std::uint32_t position(ProcId proc) const;

 private:
  ProcListPtr members_;
  std::vector<ProcId> order_;  // empty: members_ are ascending
};

}  // namespace starling::bootstrap

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The members of a group agree on a new context id, over a tree of control messages.
/// Layer: framework.
///
/// The members form a tree of fixed arity on each node, and the roots of the nodes one above (roots.hpp). A
/// join travels up once a process and all below it have
/// entered; the leader (lowest member) makes the id, which travels down. 2 (n - 1) messages, 2 log n steps;
/// each process speaks to its parent and its children only, so peers stay few. Processes outside the group
/// are never involved.
///
/// Threads:   agree() by several threads for different keys: the courier releases the runtime's lock while it
///            waits.
/// Ordering:  a join may arrive before its receiver has entered; it waits in the table under its key.
/// Errors:    after the deadline Errc::timed_out, naming the children that did not come or the parent that
///            was waited for. The creation is then abandoned: what arrives for it later is dropped.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/group_key.hpp"
#include "frameworks/bootstrap/roots.hpp"

namespace starling::bootstrap {

/// The control message of an agreement, as it is on the wire (same machine architecture on both sides).
struct AgreementMessage {
  static constexpr std::uint32_t kJoin = 1, kResult = 2;
  std::uint32_t layout = 1;
  std::uint32_t kind = kJoin;
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t context = 0;  ///< kResult: the new context id
};
static_assert(sizeof(AgreementMessage) == 32);

class Agreement {
 public:
  /// `nodes`: as in bootstrap::Args.
  Agreement(Courier& courier, ProcId self, const pmi::NodeMap* nodes, std::uint32_t arity = 4) noexcept
      : courier_(courier), self_(self), nodes_(nodes), arity_(arity) {}

  /// A fresh context id with this process as leader; Errc::no_space when all 2^29 are used up.
  [[nodiscard]] Result<ContextId> next_context_id();
  /// Collective over the members.
  [[nodiscard]] Result<ContextId> agree(const Creation& creation, Deadline deadline);
  void on_control(ProcId from, std::span<const std::byte> message) noexcept;
  /// Agreements that are known and not finished, for tests and hang help.
  [[nodiscard]] std::size_t open() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::vector<ProcId> joined;  // children that have joined, in order of arrival
    std::optional<ContextId> result;
    bool abandoned = false;
  };
  [[nodiscard]] Result<ContextId> climb(const Key& key, const Creation& creation, Deadline deadline);
  [[nodiscard]] Result<void> wait_for_children(const Key& key, const TreePlace& place,
                                               const Creation& creation, Deadline deadline);
  [[nodiscard]] Result<ContextId> result_from_parent(const Key& key, const TreePlace& place,
                                                     const Creation& creation, Deadline deadline);
  [[nodiscard]] Result<void> tell_children(const Key& key, const TreePlace& place, ContextId id);

  Courier& courier_;
  ProcId self_;
  const pmi::NodeMap* nodes_;
  std::uint32_t arity_;
  std::uint32_t used_ids_ = 0;
  std::unordered_map<Key, std::uint64_t, KeyHash> epochs_;  // per group and tag, for the life of the process
  std::unordered_map<Key, Entry, KeyHash> entries_;
};

}  // namespace starling::bootstrap

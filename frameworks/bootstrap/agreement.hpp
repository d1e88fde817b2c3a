// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The members of a group agree on a new context id, over a tree of control messages. Layer:
/// framework.
///
/// The members form a tree of fixed arity on each node, and the roots of the nodes one above (roots.hpp). A
/// join travels up once a process and all below it have entered; the leader (lowest member) makes the id,
/// which travels down. 2 (n - 1) messages, 2 log n steps; each process speaks to its parent and its children
/// only, so peers stay few. Processes outside the group are never involved.
///
/// A join carries the number of its sender's call, and the result repeats it; who gives up withdraws its
/// join. So nothing of a creation is left when it has ended: what belongs together is who waits, not a count
/// of creations.
///
/// Threads:   agree() by several threads for different keys: the control channel releases the runtime's lock
///            while it waits.
/// Ordering:  a join may arrive before its receiver has entered; it waits in the table under its key.
/// Errors:    after the deadline Errc::timed_out, naming the children that did not come or the parent that
///            was waited for. Children that have joined end with the same error. Members that give the group
///            in different orders: Errc::bad_input on all.

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/consistency.hpp"
#include "frameworks/bootstrap/group_key.hpp"
#include "frameworks/bootstrap/roots.hpp"

namespace starling::bootstrap {

/// The control message of an agreement, as it is on the wire (same machine architecture on both sides).
struct AgreementMessage {
  static constexpr std::uint32_t kLayout = 2;
  static constexpr std::uint32_t kJoin = 1, kResult = 2, kWithdraw = 3;
  std::uint32_t layout = kLayout;
  std::uint32_t kind = kJoin;
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t context = 0;   ///< kResult: the new context id; kJoin: the Orders of the subtree
  std::uint64_t call = 0;      ///< of the member that joins, also in what it gets
  std::uint64_t settings = 0;  ///< Settings::hash() of the sender
};
static_assert(sizeof(AgreementMessage) == 48);

class Agreement {
 public:
  static constexpr std::uint32_t kArity = 4;

  /// `nodes`: as in bootstrap::Args.
  Agreement(ControlChannel& control_channel, ProcId self, const NodeMap* nodes, Consistency& consistency,
            std::uint32_t arity = kArity) noexcept
      : control_channel_(control_channel),
        self_(self),
        nodes_(nodes),
        consistency_(consistency),
        arity_(arity) {}

  /// A fresh context id with this process as leader; Errc::no_space when all 2^29 are used up.
  [[nodiscard]] Result<ContextId> next_context_id();
  /// Collective over the members.
  [[nodiscard]] Result<ContextId> agree(const Consistency::Call& call, Deadline deadline);
  void on_control(ProcId from, std::span<const std::byte> message) noexcept;
  /// Agreements that are known and not finished, for tests and hang help.
  [[nodiscard]] std::size_t open() const noexcept { return entries_.size(); }

 private:
  struct Joined {
    ProcId child;
    std::uint64_t call;
    Orders orders;
  };
  struct Entry {
    std::vector<Joined> joined;  // children that have joined and still wait, in order of arrival
    std::uint64_t call = 0;      // the own one; 0: this process has not entered
    std::optional<ContextId> result;
  };
  struct Climb {
    const Consistency::Call& call;
    TreePlace place;
    Deadline deadline;
    bool joined = false;             // the parent has been told
    std::vector<ProcId> waited_for;  // when something failed
  };
  [[nodiscard]] Result<ContextId> climb(Climb& climb);
  [[nodiscard]] std::vector<ProcId> missing(const Climb& climb) const;
  [[nodiscard]] Result<void> wait_for_children(Climb& climb);
  [[nodiscard]] Orders orders_of(const Climb& climb);
  [[nodiscard]] Result<ContextId> result_from_parent(Climb& climb, Orders orders);
  [[nodiscard]] Result<void> tell_children(const Climb& climb, ContextId id);
  [[nodiscard]] Error give_up(const Climb& climb, Error error);
  [[nodiscard]] Result<void> send(ProcId to, const Key& key, AgreementMessage message);
  void take_join(ProcId from, const Key& key, const AgreementMessage& message);
  void take_withdrawal(ProcId from, const Key& key);

  ControlChannel& control_channel_;
  ProcId self_;
  const NodeMap* nodes_;
  Consistency& consistency_;
  std::uint32_t arity_;
  std::uint32_t used_ids_ = 0;
  std::unordered_map<Key, Entry, KeyHash> entries_;  // of creations under way, here or in a child
};

}  // namespace starling::bootstrap

// SPDX-License-Identifier: BSD-3-Clause
// Agreement on a context id over a tree. What is hard: joins that arrive early, and who gives up while others
// wait. Entries are looked up again after every wait, since other threads change the table meanwhile.
// Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/agreement.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/log.hpp"
#include "frameworks/bootstrap/members.hpp"

namespace starling::bootstrap {
namespace {

std::span<const std::byte> bytes_of(const AgreementMessage& message) {
  return {reinterpret_cast<const std::byte*>(&message), sizeof message};
}

/// What the control channel knows about why nobody came, if anything.
std::string hint_in(const Error& error) { return error.detail.empty() ? "" : "\n  " + error.detail; }

}  // namespace

Result<ContextId> Agreement::next_context_id() {
  if (used_ids_ == ContextId::kMaxCounter) {
    return fail(Errc::no_space, "context ids",
                "this process has led the creation of 2^29 communicators; no id is left");
  }
  return ContextId::make(self_.rank, ++used_ids_);
}

Result<ContextId> Agreement::agree(const Consistency::Call& call, Deadline deadline) {
  const Key& key = call.key();
  entries_[key].call = call.number();
  Climb tree{call, place_in_tree(call.creation().members, self_, nodes_, arity_), deadline, false, {}};
  Result<ContextId> result = climb(tree);
  if (!result) return fail(give_up(tree, std::move(result).error()));
  Entry& entry = entries_[key];
  entry.call = 0;
  entry.result.reset();
  if (entry.joined.empty()) entries_.erase(key);
  return result;
}

Result<ContextId> Agreement::climb(Climb& climb) {
  if (auto joined = wait_for_children(climb); !joined) return fail(std::move(joined).error());
  if (auto fits = consistency_.fits(climb.call); !fits) return fail(std::move(fits).error());
  const Orders orders = orders_of(climb);
  if (auto differ = orders.error(describe(climb.call.creation())); differ && !climb.place.parent)
    return fail(std::move(*differ));
  Result<ContextId> id = climb.place.parent ? result_from_parent(climb, orders) : next_context_id();
  if (!id) return id;
  if (auto told = tell_children(climb, *id); !told) return fail(std::move(told).error());
  return id;
}

std::vector<ProcId> Agreement::missing(const Climb& climb) const {
  const auto entry = entries_.find(climb.call.key());
  std::vector<ProcId> procs;
  for (const ProcId child : climb.place.children) {
    const bool there =
        entry != entries_.end() && std::any_of(entry->second.joined.begin(), entry->second.joined.end(),
                                               [&](const Joined& joined) { return joined.child == child; });
    if (!there) procs.push_back(child);
  }
  return procs;
}

Result<void> Agreement::wait_for_children(Climb& climb) {
  if (climb.place.children.empty()) return {};
  const std::string name = describe(climb.call.creation());
  const auto all_joined = [&] { return missing(climb).empty(); };
  const auto text = [&] {
    std::string ranks;
    for (const ProcId child : missing(climb))
      ranks += (ranks.empty() ? "" : ", ") + std::to_string(child.rank);
    return "waits for rank(s) " + ranks + " or members that join through them";
  };
  const auto find_failure = [&] {
    consistency_.look(climb.call, [&] { return missing(climb); });
    return consistency_.failure(climb.call);
  };
  auto waited = wait_while_possible(control_channel_, find_failure, all_joined, climb.deadline,
                                    [&] { return name + ": " + text(); });
  if (waited) return {};
  climb.waited_for = missing(climb);
  if (waited.error().code != Errc::timed_out) return waited;
  return fail(Errc::timed_out, name,
              "gave up (parameter bootstrap_timeout): " + text() +
                  "; every member of the group must make the same call" + hint_in(waited.error()));
}

/// With another order a member would take another rank than the others think.
Orders Agreement::orders_of(const Climb& climb) {
  Orders orders = climb.call.orders();
  for (const Joined& joined : entries_[climb.call.key()].joined)
    orders.add(self_, joined.child, joined.orders);
  return orders;
}

Result<void> Agreement::send(ProcId to, const Key& key, AgreementMessage message) {
  message.key_high = key.high;
  message.key_low = key.low;
  message.settings = consistency_.settings();
  return control_channel_.send(to, bytes_of(message));
}

Result<ContextId> Agreement::result_from_parent(Climb& climb, Orders orders) {
  const Key& key = climb.call.key();
  const ProcId parent = *climb.place.parent;
  AgreementMessage join;
  join.call = climb.call.number();
  join.context = orders.written();
  climb.joined = true;
  if (auto sent = send(parent, key, join); !sent) return fail(std::move(sent).error());
  const std::string name = describe(climb.call.creation());
  const std::string missing =
      "waits for rank " + std::to_string(parent.rank) + " to pass on the new context id";
  const auto find_failure = [&] {
    consistency_.look(climb.call, [&] { return std::vector{parent}; });
    return consistency_.failure_before_result(climb.call, parent);
  };
  auto waited = wait_while_possible(
      control_channel_, find_failure, [&] { return entries_[key].result.has_value(); }, climb.deadline,
      [&] { return name + ": " + missing; });
  if (waited) return *entries_[key].result;
  climb.waited_for = {parent};
  if (waited.error().code != Errc::timed_out) return fail(std::move(waited).error());
  return fail(Errc::timed_out, name,
              "gave up (parameter bootstrap_timeout): " + missing +
                  "; a member of the group has not made the call" + hint_in(waited.error()));
}

Result<void> Agreement::tell_children(const Climb& climb, ContextId id) {
  const Key& key = climb.call.key();
  // Who hears it may come again at once, before this has ended.
  const std::vector<Joined> all = std::exchange(entries_[key].joined, {});
  for (auto joined = all.begin(); joined != all.end(); ++joined) {
    AgreementMessage result;
    result.kind = AgreementMessage::kResult;
    result.context = id.bits;
    result.call = joined->call;
    if (auto sent = send(joined->child, key, result); !sent) {
      std::vector<Joined>& waiting = entries_[key].joined;  // give_up() ends their calls
      waiting.insert(waiting.end(), joined, all.end());
      return sent;
    }
  }
  return {};
}

/// Ends the own call: the parent does not count on it any more, the children that wait here end too.
Error Agreement::give_up(const Climb& climb, Error error) {
  const Key& key = climb.call.key();
  error = consistency_.explain(climb.call, std::move(error), climb.waited_for);
  const std::vector<Joined> all = std::exchange(entries_[key].joined, {});
  entries_.erase(key);
  for (const Joined& joined : all) consistency_.tell_end(climb.call, error, joined.child, joined.call);
  if (climb.joined && !consistency_.answered(climb.call)) {
    AgreementMessage withdrawal;
    withdrawal.kind = AgreementMessage::kWithdraw;
    (void)send(*climb.place.parent, key, withdrawal);  // who cannot be reached does not wait either
  }
  std::vector<ProcId> neighbours = climb.place.children;
  for (const Joined& joined : all) std::erase(neighbours, joined.child);
  if (climb.place.parent) neighbours.push_back(*climb.place.parent);
  consistency_.tell(climb.call, error, neighbours);
  return error;
}

void Agreement::take_join(ProcId from, const Key& key, const AgreementMessage& message) {
  if (consistency_.refused(from, key, message.call)) return;
  std::vector<Joined>& joined = entries_[key].joined;
  std::erase_if(joined, [&](const Joined& old) { return old.child == from; });
  joined.push_back({from, message.call, Orders::read(message.context)});
}

/// Messages keep their order, so it is of the latest join.
void Agreement::take_withdrawal(ProcId from, const Key& key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  std::erase_if(entry->second.joined, [&](const Joined& old) { return old.child == from; });
  if (entry->second.call == 0 && entry->second.joined.empty()) entries_.erase(entry);
}

void Agreement::on_control(ProcId from, std::span<const std::byte> bytes) noexcept {
  AgreementMessage message;
  if (bytes.size() != sizeof message) {
    log::error("control message of " + std::to_string(bytes.size()) + " bytes from rank " +
               std::to_string(from.rank) + " ignored: " + std::to_string(sizeof message) +
               " were expected: do all processes run the same version?");
    return;
  }
  std::memcpy(&message, bytes.data(), sizeof message);
  if (message.layout != AgreementMessage::kLayout || message.kind < AgreementMessage::kJoin ||
      message.kind > AgreementMessage::kWithdraw) {
    log::error("control message of unknown layout from rank " + std::to_string(from.rank) +
               " ignored: do all processes run the same version?");
    return;
  }
  const Key key{message.key_high, message.key_low};
  if (message.kind == AgreementMessage::kWithdraw) return take_withdrawal(from, key);
  consistency_.heard(from, key, message.settings);
  if (message.kind == AgreementMessage::kJoin) return take_join(from, key, message);
  const auto entry = entries_.find(key);
  if (entry != entries_.end() && entry->second.call == message.call && message.call != 0)
    entry->second.result = ContextId{message.context};
}

}  // namespace starling::bootstrap

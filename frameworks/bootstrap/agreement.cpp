// SPDX-License-Identifier: BSD-3-Clause
// Agreement on a context id over a tree. What is hard: joins that arrive early, and late ones after a
// time-out. Entries are looked up again after every wait, since other threads change the table meanwhile.
// Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/agreement.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/log.hpp"
#include "frameworks/bootstrap/members.hpp"

namespace starling::bootstrap {
namespace {

std::span<const std::byte> bytes_of(const AgreementMessage& message) {
  return {reinterpret_cast<const std::byte*>(&message), sizeof message};
}

std::string describe(const Creation& creation) {
  return "creation of a communicator of " + std::to_string(creation.members->size()) +
         " processes with tag '" + creation.tag + "'";
}

/// What the courier knows about why nobody came, if anything.
std::string hint_in(const Error& error) { return error.detail.empty() ? "" : "\n  " + error.detail; }

}  // namespace

Result<ContextId> Agreement::next_context_id() {
  if (used_ids_ == ContextId::kMaxCounter) {
    return fail(Errc::no_space, "context ids",
                "this process has led the creation of 2^29 communicators; no id is left");
  }
  if (self_.rank > ContextId::kMaxRank) {
    return fail(Errc::unsupported, "context ids",
                "rank " + std::to_string(self_.rank) + " does not fit into 24 bits");
  }
  return ContextId::make(self_.world, self_.rank, ++used_ids_);
}

Result<ContextId> Agreement::agree(const Creation& creation, Deadline deadline) {
  const Key group = group_key(*creation.members, creation.tag);
  const Key key = creation_key(group, epochs_[group]++);
  Result<ContextId> result = climb(key, creation, deadline);
  if (result) {
    entries_.erase(key);
  } else {
    entries_[key].abandoned = true;  // keeps the key, so that late messages find that nobody waits any more
  }
  return result;
}

Result<ContextId> Agreement::climb(const Key& key, const Creation& creation, Deadline deadline) {
  const TreePlace place = place_in_tree(creation.members, self_, nodes_, arity_);
  if (auto joined = wait_for_children(key, place, creation, deadline); !joined)
    return fail(std::move(joined).error());
  Result<ContextId> id =
      place.parent ? result_from_parent(key, place, creation, deadline) : next_context_id();
  if (!id) return id;
  if (auto told = tell_children(key, place, *id); !told) return fail(std::move(told).error());
  return id;
}

Result<void> Agreement::wait_for_children(const Key& key, const TreePlace& place, const Creation& creation,
                                          Deadline deadline) {
  if (place.children.empty()) return {};
  const auto all_joined = [&] { return entries_[key].joined.size() >= place.children.size(); };
  const auto missing = [&] {
    const std::vector<ProcId>& joined = entries_[key].joined;
    std::string ranks;
    for (const ProcId child : place.children) {
      if (std::find(joined.begin(), joined.end(), child) != joined.end()) continue;
      ranks += (ranks.empty() ? "" : ", ") + std::to_string(child.rank);
    }
    return "waits for rank(s) " + ranks + " or members that join through them";
  };
  const auto find_dead = [&] { return courier_.dead_among(*creation.members); };
  auto waited = wait_while_alive(courier_, find_dead, all_joined, deadline,
                                 [&] { return describe(creation) + ": " + missing(); });
  if (waited) return {};
  if (waited.error().code != Errc::timed_out) return waited;
  return fail(Errc::timed_out, describe(creation),
              "gave up (parameter bootstrap_timeout): " + missing() +
                  "; every member of the group must make the same call" + hint_in(waited.error()));
}

Result<ContextId> Agreement::result_from_parent(const Key& key, const TreePlace& place,
                                                const Creation& creation, Deadline deadline) {
  AgreementMessage join;
  join.key_high = key.high;
  join.key_low = key.low;
  if (auto sent = courier_.send(*place.parent, bytes_of(join)); !sent) return fail(std::move(sent).error());
  const std::string missing =
      "waits for rank " + std::to_string(place.parent->rank) + " to pass on the new context id";
  const auto find_dead = [&] { return courier_.dead_among(*creation.members); };
  auto waited = wait_while_alive(
      courier_, find_dead, [&] { return entries_[key].result.has_value(); }, deadline,
      [&] { return describe(creation) + ": " + missing; });
  if (waited) return *entries_[key].result;
  if (waited.error().code != Errc::timed_out) return fail(std::move(waited).error());
  return fail(Errc::timed_out, describe(creation),
              "gave up (parameter bootstrap_timeout): " + missing +
                  "; a member of the group has not made the call" + hint_in(waited.error()));
}

Result<void> Agreement::tell_children(const Key& key, const TreePlace& place, ContextId id) {
  AgreementMessage result;
  result.kind = AgreementMessage::kResult;
  result.key_high = key.high;
  result.key_low = key.low;
  result.context = id.bits;
  for (const ProcId child : place.children) {
    if (auto sent = courier_.send(child, bytes_of(result)); !sent) return sent;
  }
  return {};
}

void Agreement::on_control(ProcId from, std::span<const std::byte> bytes) noexcept {
  AgreementMessage message;
  if (bytes.size() != sizeof message) {
    log::error("control message of " + std::to_string(bytes.size()) + " bytes from rank " +
               std::to_string(from.rank) + " ignored: " + std::to_string(sizeof message) + " were expected");
    return;
  }
  std::memcpy(&message, bytes.data(), sizeof message);
  if (message.layout != 1 || message.kind < AgreementMessage::kJoin ||
      message.kind > AgreementMessage::kResult) {
    log::error("control message of unknown layout from rank " + std::to_string(from.rank) +
               " ignored: do all processes run the same version?");
    return;
  }
  Entry& entry = entries_[Key{message.key_high, message.key_low}];
  if (entry.abandoned) return;
  if (message.kind == AgreementMessage::kJoin) {
    entry.joined.push_back(from);
  } else {
    entry.result = ContextId{message.context};
  }
}

}  // namespace starling::bootstrap

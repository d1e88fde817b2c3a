// SPDX-License-Identifier: BSD-3-Clause
// Completed exchanges. Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/exchanges.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/worlds.hpp"
#include "frameworks/bootstrap/group_key.hpp"

namespace starling::bootstrap {
namespace {

bool contains_all(const ProcList& outer, const ProcList& inner) {
  if (outer.size() < inner.size()) return false;
  for (std::uint32_t i = 0; i < inner.size(); ++i) {
    if (!outer.find(inner.at(i))) return false;
  }
  return true;
}

}  // namespace

bool Exchanges::covers(const ProcList& members) const {
  if (world_ && is_within_world(members, Worlds::kOwn)) return true;
  return std::any_of(groups_.begin(), groups_.end(),
                     [&](const ProcListPtr& group) { return contains_all(*group, members); });
}

void Exchanges::completed(ProcListPtr members) {
  if (covers(*members)) return;
  if (is_whole_world(*members, Worlds::kOwn, world_size_)) {
    completed_world();
    return;
  }
  std::erase_if(groups_, [&](const ProcListPtr& group) { return contains_all(*members, *group); });
  groups_.push_back(std::move(members));
}

Result<void> meet_world(ControlChannel& control_channel, Exchanges& exchanges, Deadline deadline,
                        const FindFailure& find_failure, const std::function<bool()>& needless) {
  const auto what = [] { return std::string("a fence of the world that another thread has entered"); };
  Result<void> turn = wait_while_possible(
      control_channel, find_failure, [&] { return !exchanges.world_fence_running; }, deadline, what);
  if (!turn || exchanges.covers_world()) return turn;
  exchanges.world_fence_running = true;
  bool given_up = false;
  auto fenced = control_channel.fence({}, {}, deadline, [&] {
    given_up = needless && needless();
    return given_up || find_failure().has_value();
  });
  exchanges.world_fence_running = false;
  if (given_up) return fenced;
  if (fenced) fenced = still_possible(find_failure, "a fence of the world");
  if (fenced) exchanges.completed_world();
  return fenced;
}

Result<void> meet_with_world(ControlChannel& control_channel, Exchanges& exchanges, Deadline deadline,
                             const FindFailure& find_failure) {
  auto met = meet_world(control_channel, exchanges, deadline, find_failure);
  if (met || met.error().code != Errc::timed_out) return met;
  return fail(std::move(met).error().within(
      "every process of the job must make a communicator of more than itself, since groups find each other "
      "by a fence of the world here (bootstrap_group_mode; startup_report=1 tells why)"));
}

Result<void> meet(ControlChannel& control_channel, bool group_fence, Exchanges& exchanges,
                  const ProcListPtr& members, const std::string& tag, Deadline deadline,
                  const FindFailure& find_failure) {
  const std::uint32_t size = members->size();
  if (size == 1 || exchanges.covers(*members)) return {};
  if (!group_fence) return meet_world(control_channel, exchanges, deadline, find_failure);
  const Sorted sorted(members);
  std::vector<std::uint32_t> ranks;
  ranks.reserve(size);
  for (std::uint32_t i = 0; i < size; ++i) ranks.push_back(sorted.at(i).rank);
  auto fenced = control_channel.fence(
      ranks, tag, deadline, [&] { return exchanges.covers(*members) || find_failure().has_value(); });
  if (fenced && !exchanges.covers(*members)) fenced = still_possible(find_failure, "a fence of the members");
  if (fenced) exchanges.completed(members);
  return fenced;
}

}  // namespace starling::bootstrap

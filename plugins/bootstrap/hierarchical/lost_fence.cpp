// SPDX-License-Identifier: BSD-3-Clause
// A process manager that says it has fences of groups, and does not end one: for nobody, or for some members;
// or one that answers before a fence, and does not answer one that asks for its parent's card. Hard here: who
// has left the fence must help who has not, and nobody can tell the others what it has seen. So all who still
// wait after a while try the next discovery, whatever they know, and go on waiting: a root offers its card by
// name where there are names, or everybody enters the fence of the world. A member that is only late finds
// the fence as it was. Layer: plugin. See docs/design/exchange.md.

#include <string>

#include "core/log.hpp"
#include "frameworks/pmi/value.hpp"
#include "plugins/bootstrap/hierarchical/component.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::uint64_t kHalfOfForEverSeconds = 150;

}  // namespace

/// Names do no harm; the fence of the world can be entered once only, and some may never come.
Deadline Hierarchical::patience_from_now() const {
  if (pmi_.capabilities().name_service) return Deadline::after_seconds(fence_timeout_s_);
  return timeout_s_ == 0 ? Deadline::after_seconds(kHalfOfForEverSeconds)
                         : Deadline::after_ns(timeout_s_ * 500'000'000u);
}

bool Hierarchical::may_lose_fence(const Meeting& meeting) const {
  if (mode_ != GroupMode::automatic || meeting.place.nodes == 1 || covered(meeting)) return false;
  const auto discovery = discovery_for(meeting);
  if (discovery && *discovery == Discovery::direct)
    return !pmi_.capabilities().tells_reason;  // Starling's mpiexec answers
  return discovery && *discovery == Discovery::native;
}

Result<void> Hierarchical::publish(Meeting& meeting) {
  if (meeting.published) return {};
  meeting.published = true;
  return pmi_.publish(published_name(meeting, self_), pmi::ValueCodec::encode(card_client_.own_card()));
}

Result<void> Hierarchical::fence_of_roots(Meeting& meeting, const FindFailure& find_failure) {
  const bool may_lose = may_lose_fence(meeting);
  const bool sooner = meeting.patience.left_ns() < meeting.deadline.left_ns();
  const Deadline deadline = may_lose && sooner ? meeting.patience : meeting.deadline;
  Result<void> fenced = fail(Errc::timed_out, "fence", "two were lost, so no more are entered");
  if (!may_lose || fences_lost_ < kMostLostFences) {
    fenced =
        control_channel_.fence(ranks_of_roots(meeting.members(), nodes_), "roots " + text_of(meeting.key()),
                               deadline, [&] { return covered(meeting) || find_failure().has_value(); });
  }
  if (fenced) fences_lost_ = 0;
  if (fenced || !may_lose || fenced.error().code != Errc::timed_out || meeting.deadline.passed())
    return fenced;
  log::info(meeting.name + ": the process manager (" + pmi_.capabilities().server +
            ") has not ended a fence of its node roots; members are looked for otherwise");
  ++fences_lost_;
  meeting.fence_lost = true;
  return go_another_way(meeting, find_failure, {});
}

Result<void> Hierarchical::go_another_way(Meeting& meeting, const FindFailure& find_failure,
                                          const std::function<bool()>& needless) {
  if (pmi_.capabilities().name_service) {
    const bool looked_for = !meeting.place.root_children.empty() && !meeting.gathered;
    return looked_for ? publish(meeting) : Result<void>();
  }
  if (auto put = card_client_.expose(); !put) return put;
  return meet_world(control_channel_, fenced_, meeting.deadline, find_failure, needless);
}

}  // namespace starling::bootstrap

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which groups have completed an exchange, and meeting at the process manager. Layer: framework.
///
/// An exchange is left out only if one completed exchange contained all members of the new group: every
/// member knows that. What a process has in its address book is no such fact: with {A,B} and {A,C} done, A
/// knows all that {A,B,C} needs and must still not leave out what B and C wait for.
///
/// Threads: under the runtime's lock.
/// Errors:  a member that does not come: timed_out.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/proc_list.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/members.hpp"

namespace starling::bootstrap {

class Exchanges {
 public:
  explicit Exchanges(std::uint32_t world_size) : world_size_(world_size) {}

  /// Whether some completed exchange contained all of them.
  [[nodiscard]] bool covers(const ProcList& members) const;
  [[nodiscard]] bool covers_world() const noexcept { return world_; }
  /// All members have got each other's cards, and are ready.
  void completed(ProcListPtr members);
  void completed_world() {
    world_ = true;
    groups_.clear();
  }
  /// Somebody of this process is in the fence of the world: it is entered once, whoever needs it.
  bool world_fence_running = false;

 private:
  std::uint32_t world_size_;
  bool world_ = false;
  std::vector<ProcListPtr> groups_;
};

/// One fence over the members where the process manager can (`group_fence`), else over the world, which then
/// covers every group. Nothing if they have met before. `tag`: of this creation. It ends early with what
/// `find_failure` finds.
[[nodiscard]] Result<void> meet(ControlChannel& control_channel, bool group_fence, Exchanges& exchanges,
                                const ProcListPtr& members, const std::string& tag, Deadline deadline,
                                const FindFailure& find_failure);
/// The fence of the world, once per process: several threads that need it share one. `needless`, if given,
/// ends it early; who needs the world later waits for the rest of the same fence.
[[nodiscard]] Result<void> meet_world(ControlChannel& control_channel, Exchanges& exchanges,
                                      Deadline deadline, const FindFailure& find_failure,
                                      const std::function<bool()>& needless = {});
/// As meet_world(), for a creation whose members may not need the fence themselves (Creation::world).
[[nodiscard]] Result<void> meet_with_world(ControlChannel& control_channel, Exchanges& exchanges,
                                           Deadline deadline, const FindFailure& find_failure);

}  // namespace starling::bootstrap

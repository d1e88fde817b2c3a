// SPDX-License-Identifier: BSD-3-Clause
// Waiting among members that may die. Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/members.hpp"

namespace starling::bootstrap {
namespace {

Unexpected has_ended(const std::string& where, ProcId dead) {
  return fail(Errc::peer_lost, where,
              "rank " + std::to_string(dead.rank) + " has ended, or cannot be reached any more");
}

}  // namespace

Result<void> all_alive(const FindDead& find_dead, const std::string& where) {
  const auto dead = find_dead();
  if (!dead) return {};
  return has_ended(where, *dead);
}

Result<void> wait_while_alive(Courier& courier, const FindDead& find_dead, const std::function<bool()>& ready,
                              Deadline deadline, const std::function<std::string()>& what) {
  std::optional<ProcId> dead;
  auto waited = courier.wait([&] { return ready() || (dead = find_dead()).has_value(); }, deadline, what);
  if (!waited || !dead) return waited;
  return has_ended(what(), *dead);
}

}  // namespace starling::bootstrap

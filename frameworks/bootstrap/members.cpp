// SPDX-License-Identifier: BSD-3-Clause
// Waiting among members that may die or not fit. Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/members.hpp"

#include "core/worlds.hpp"

namespace starling::bootstrap {

Error Failure::error(const std::string& where) const {
  if (dead) return {code, where, text_of(*dead) + " has ended, or cannot be reached any more"};
  return {code, text.empty() ? where : std::string(), text};
}

Result<void> still_possible(const FindFailure& find_failure, const std::string& where) {
  const auto failure = find_failure();
  if (!failure) return {};
  return fail(failure->error(where));
}

Result<void> wait_while_possible(ControlChannel& control_channel, const FindFailure& find_failure,
                                 const std::function<bool()>& ready, Deadline deadline,
                                 const std::function<std::string()>& what) {
  std::optional<Failure> failure;
  auto waited =
      control_channel.wait([&] { return ready() || (failure = find_failure()).has_value(); }, deadline, what);
  if (!waited || !failure) return waited;
  return fail(failure->error(what()));
}

}  // namespace starling::bootstrap

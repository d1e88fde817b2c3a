// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Waiting for others while every member of a creation is needed. Layer: framework.
///
/// Not only those next in the tree are: they may wait for a member that has died, or that does not fit.
/// Threads, errors: as ControlChannel::wait; a dead member is Errc::peer_lost, with its rank.

#include <functional>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"

namespace starling::bootstrap {

/// Why a creation cannot succeed any more, whoever comes.
struct Failure {
  Errc code = Errc::peer_lost;
  std::optional<ProcId> dead;  ///< a member that has died
  std::string text;            ///< for people, where nobody has died; empty: not known yet
  /// The error of it; `where`: what is being done.
  [[nodiscard]] Error error(const std::string& where) const;
};
using FindFailure = std::function<std::optional<Failure>()>;

/// Fails if the creation cannot succeed. `where`: what is being done.
[[nodiscard]] Result<void> still_possible(const FindFailure& find_failure, const std::string& where);

/// ControlChannel::wait, which ends at once when the creation cannot succeed.
[[nodiscard]] Result<void> wait_while_possible(ControlChannel& control_channel,
                                               const FindFailure& find_failure,
                                               const std::function<bool()>& ready, Deadline deadline,
                                               const std::function<std::string()>& what);

}  // namespace starling::bootstrap

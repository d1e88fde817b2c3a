// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Waiting for others while every member of a creation is needed. Layer: framework.
///
/// Not only those next in the tree are: they may wait for a member that has died.
/// Threads, errors: as Courier::wait; a dead member is Errc::peer_lost, with its rank.

#include <functional>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"

namespace starling::bootstrap {

/// A member that is known to have died.
using FindDead = std::function<std::optional<ProcId>()>;

/// Fails if somebody has died. `where`: what is being done.
[[nodiscard]] Result<void> all_alive(const FindDead& find_dead, const std::string& where);

/// Courier::wait, which ends at once when somebody has died.
[[nodiscard]] Result<void> wait_while_alive(Courier& courier, const FindDead& find_dead,
                                            const std::function<bool()>& ready, Deadline deadline,
                                            const std::function<std::string()>& what);

}  // namespace starling::bootstrap

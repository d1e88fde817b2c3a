// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of the bootstrap. Layer: framework.

#include <array>

#include "params/decl.hpp"

namespace starling::bootstrap {

inline constexpr params::Decl kTimeout = params::integer(
    "bootstrap_timeout", "300", 0, 1'000'000,
    "Seconds to wait for the other members when a communicator is made from a group; 0 waits for ever.");

inline constexpr params::Decl kGroupMode = params::equal_everywhere(params::choice(
    "bootstrap_group_mode", "auto", "auto|native|lookup|world",
    "How a group smaller than the world finds its members' addresses: native by fences of the group, lookup "
    "by published names, world with a fence of all processes, which must all make a communicator then."));

inline constexpr params::Decl kFenceTimeout = params::integer(
    "bootstrap_fence_timeout", "10", 1, 1'000'000,
    "Seconds after which a fence of a group that the process manager has not ended is taken for lost: the "
    "members then find each other by published names, or, after half of bootstrap_timeout, by a fence of all "
    "processes.");

inline constexpr std::array kParams = {kTimeout, kGroupMode, kFenceTimeout};

}  // namespace starling::bootstrap

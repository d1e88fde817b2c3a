// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How some processes find each other through a process manager that serves all. Layer: framework.
///
/// A pure function of what all members share (the server's kind, parameters, whether everybody takes part),
/// so that all choose alike; no local probe or time-out ever changes it.
/// Threads: pure.
/// Errors:  the parameter insists on what the process manager does not have: unsupported.

#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::bootstrap {

/// Parameter bootstrap_group_mode.
enum class GroupMode : std::uint8_t { automatic = 0, native = 1, lookup = 2, world = 3 };

/// What the members of a group use to find each other.
enum class Discovery : std::uint8_t {
  direct,  ///< a value can be asked for before any fence
  native,  ///< a fence of those who need it
  lookup,  ///< names: publish and poll
  world    ///< a fence of all processes of the job, who must then all make a communicator
};

struct ChosenDiscovery {
  Discovery discovery = Discovery::world;
  std::string reason;
};

/// `everybody`: the group is the whole world.
[[nodiscard]] Result<ChosenDiscovery> choose_discovery(GroupMode mode, const pmi::Capabilities& pmi,
                                                       bool everybody);
/// Whether groups smaller than the world find each other by the fence of the world alone. Then each process
/// enters it at its first creation, also one of a group that does not need it: others may.
/// `tree`: the bootstrap has a tree of roots; else it has fences only.
[[nodiscard]] bool groups_need_world(GroupMode mode, const pmi::Capabilities& pmi, bool tree);
[[nodiscard]] const char* name_of(Discovery discovery) noexcept;

}  // namespace starling::bootstrap

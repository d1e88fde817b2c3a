// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How some processes find each other through a process manager that serves all. Layer: framework.
///
/// A pure function of what all members share (the server's kind, parameters, whether everybody takes part),
/// so that all take the same way; no local probe or time-out ever changes it.
/// Threads: pure.
/// Errors:  a way that the parameter insists on and the process manager does not have: unsupported.

#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::bootstrap {

/// Parameter bootstrap_group_mode.
enum class GroupMode : std::uint8_t { automatic = 0, native = 1, lookup = 2, world = 3 };

enum class Way : std::uint8_t {
  direct,  ///< a value can be asked for before any fence
  native,  ///< a fence of those who need it
  lookup,  ///< names: publish and poll
  world    ///< a fence of all processes of the job, who must then all make a communicator
};

struct ChosenWay {
  Way way = Way::world;
  std::string reason;
};

/// `everybody`: the group is the whole world.
[[nodiscard]] Result<ChosenWay> choose_way(GroupMode mode, const pmi::Capabilities& pmi, bool everybody);
/// Whether groups smaller than the world find each other by the fence of the world alone. Then each process
/// enters it at its first creation, also one of a group that does not need it: others may.
/// `tree`: the bootstrap has a tree of roots; else it has fences only.
[[nodiscard]] bool groups_need_world(GroupMode mode, const pmi::Capabilities& pmi, bool tree);
[[nodiscard]] const char* name_of(Way way) noexcept;

}  // namespace starling::bootstrap

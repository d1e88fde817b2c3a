// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One segment for all processes of the node, by whichever component can. Layer: framework.
///
/// First whatever is there already is taken: inherited, or found by name. Otherwise the process whose turn it
/// is (turn.hpp) tries the ways in order and so decides for all; the others find what it made, or it is
/// handed to them. See docs/design/shared-memory.md for why they cannot come to different decisions.
///
/// Threads:   one. Ownership: ways are borrowed; the result is the caller's.
/// Errors:    every way with its reason.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/shm/shm.hpp"
#include "frameworks/shm/turn.hpp"

namespace starling::shm {

struct Way {
  std::string name;  ///< of the component: "posix"
  Component* component = nullptr;
};

struct Attached {
  Segment segment;
  std::size_t way = 0;               ///< index of the way that was used
  std::unique_ptr<Giver> giver;      ///< if others have to get the segment from its holders
  std::string how;                   ///< for people: "shm/memfd, handed over through @starling-..."
  std::vector<std::string> refused;  ///< ways that were tried before, with their reasons
};

/// What mpiexec handed down, if this way has it: then no other way has to be opened, which every process of
/// a large node would pay for.
[[nodiscard]] std::optional<Attached> take_inherited(const Way& way, const SegmentSpec& spec,
                                                     Deadline deadline);

/// `ordered`: the user gave the order of the ways. Otherwise those with a name come first among those that
/// make a segment, since they need no common network namespace.
[[nodiscard]] Result<Attached> attach_node_segment(std::span<const Way> ways, const SegmentSpec& spec,
                                                   bool ordered, Deadline deadline);

}  // namespace starling::shm

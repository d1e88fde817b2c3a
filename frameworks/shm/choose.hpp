// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One segment for all processes of the node, by whichever component can. Layer: framework.
///
/// First whatever is there already is taken: inherited, or found by name. Otherwise the elected process
/// (election.hpp) tries the candidates in order and so decides for all; the others find what it made, or it
/// is handed to them. See docs/design/shared-memory.md for why they cannot come to different decisions.
///
/// Threads:   one. Ownership: candidates are borrowed; the result is the caller's.
/// Errors:    every candidate with its reason.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/shm/election.hpp"
#include "frameworks/shm/shm.hpp"

namespace starling::shm {

struct Candidate {
  std::string name;  ///< of the component: "posix"
  Component* component = nullptr;
};

struct Attached {
  Segment segment;
  std::size_t candidate = 0;                      ///< index of the one that was used
  std::unique_ptr<SegmentServer> segment_server;  ///< if others have to get the segment from its holders
  std::string how;                   ///< for people: "shm/memfd, handed over through @starling-..."
  std::vector<std::string> refused;  ///< candidates that were tried before, with their reasons
};

/// What mpiexec handed down, if this candidate has it: then no other has to be opened, which every process of
/// a large node would pay for.
[[nodiscard]] std::optional<Attached> take_inherited(const Candidate& candidate, const SegmentSpec& spec,
                                                     Deadline deadline);

/// `ordered`: the user gave the order. Otherwise candidates with a name come first among those that make a
/// segment, since they need no common network namespace.
[[nodiscard]] Result<Attached> attach_node_segment(std::span<const Candidate> candidates,
                                                   const SegmentSpec& spec, bool ordered, Deadline deadline);

}  // namespace starling::shm

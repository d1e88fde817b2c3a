// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The parts of a reduction over several nodes, as calls of their own: by messages (nodes.cpp) or by
/// boards (mpi/launch/several_nodes.cpp). Layer: mpi. docs/design/collectives.md
///
/// Threads: values. Ownership: borrows what the call borrows.

#include "mpi/coll/hierarchy.hpp"

namespace starling::mpi::coll {

/// What is combined in a node, into `result` at its speaker. `in_place`: of this process's call.
[[nodiscard]] inline Reduce reduction_in_node(const Levels& levels, const Reduce& asked, bool in_place,
                                              void* result) noexcept {
  Reduce part = asked;
  part.send = in_place ? asked.receive : asked.send;
  part.receive = result;
  part.in_place = levels.speaks() && part.send == result;
  part.root = levels.head;
  return part;
}

/// What speakers combine, each with its node's part in `result`, which is the root's receive buffer there.
[[nodiscard]] inline Reduce reduction_across(const Levels& levels, const Reduce& asked,
                                             void* result) noexcept {
  Reduce part = asked;
  part.send = result;
  part.receive = result;
  part.in_place = levels.across.rank == levels.root_node;
  part.root = levels.root_node;
  return part;
}
/// The same where all get the result.
[[nodiscard]] inline Reduce allreduction_across(const Reduce& asked) noexcept {
  Reduce part = asked;
  part.in_place = true;
  return part;
}

}  // namespace starling::mpi::coll

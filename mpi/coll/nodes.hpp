// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The parts of a reduction over several nodes, as calls of their own: by messages (nodes.cpp) or by
/// boards (mpi/launch/several_nodes.cpp). Layer: mpi. docs/design/collectives.md
///
/// Threads: values. Ownership: borrows what the call borrows.

#include <algorithm>
#include <vector>

#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {

/// The reduction inside a node, into `result` at its speaker. `in_place`: whether this process's call is in
/// place.
[[nodiscard]] inline Reduce reduction_in_node(const Levels& levels, const Reduce& asked, bool in_place,
                                              void* result) noexcept {
  Reduce part = asked;
  part.send = in_place ? asked.receive : asked.send;
  part.receive = result;
  part.in_place = levels.speaks() && part.send == result;
  part.root = levels.head;
  return part;
}

/// The reduction among the speakers. Each has the result of its node in `result`; at the root that is the
/// receive buffer.
[[nodiscard]] inline Reduce reduction_across(const Levels& levels, const Reduce& asked,
                                             void* result) noexcept {
  Reduce part = asked;
  part.send = result;
  part.receive = result;
  part.in_place = levels.across.rank == levels.root_node;
  part.root = levels.root_node;
  return part;
}
/// As above, where all get the result.
[[nodiscard]] inline Reduce allreduction_across(const Reduce& asked) noexcept {
  Reduce part = asked;
  part.in_place = true;
  return part;
}

/// A vector cut into as many parts as the smallest node has members. Member i of each node has part i.
struct NodeParts {
  NodeParts(const Hierarchy& hierarchy, int rank, std::uint64_t elements)
      : levels(hierarchy, rank), split{elements, hierarchy.narrowest()} {
    if (levels.local.rank < split.parts) {
      for (int node = 0; node < hierarchy.nodes(); ++node)
        lane.push_back(hierarchy.members(node)[static_cast<std::size_t>(levels.local.rank)]);
    }
    for (int local_peer = 0; local_peer < levels.local.size; ++local_peer) {
      counts.push_back(static_cast<std::int64_t>(count(local_peer)));
      places.push_back(static_cast<std::int64_t>(begin(local_peer)));
    }
  }
  [[nodiscard]] std::uint64_t begin(int local_peer) const noexcept {
    return split.begin(std::min(local_peer, split.parts));
  }
  [[nodiscard]] std::uint64_t count(int local_peer) const noexcept {
    return local_peer < split.parts ? split.size(local_peer) : 0;
  }
  /// The reduction of this process's part, which holds the result of its node, with those of the other nodes.
  [[nodiscard]] Reduce of(const Reduce& asked) const noexcept {
    Reduce part = asked;
    part.receive = element(asked.receive, begin(levels.local.rank), asked.type);
    part.count = count(levels.local.rank);
    part.in_place = true;
    return part;
  }
  /// The allgather by which every member of the node gets all parts. Borrows this and `asked`.
  [[nodiscard]] Gather gathering(const Reduce& asked) const noexcept {
    Gather all;
    all.receive =
        Blocks(asked.receive, Ints{nullptr, counts.data()}, Ints{nullptr, places.data()}, asked.type);
    all.in_place = true;
    return all;
  }

  Levels levels;
  Split split;
  std::vector<int> lane;                     ///< ranks that have the same part as this process; empty: it has
                                             ///< none
  std::vector<std::int64_t> counts, places;  ///< of local peers, in elements
};

}  // namespace starling::mpi::coll

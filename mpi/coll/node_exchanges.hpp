// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which member of a node exchanges with which other node, for all of its node. Layer: mpi.
/// docs/design/collectives.md
///
/// Threads: values. Ownership: of themselves.

#include <algorithm>
#include <vector>

#include "mpi/coll/hierarchy.hpp"

namespace starling::mpi::coll {

/// Of node `node`: who exchanges with node `other`, as a number among its members.
[[nodiscard]] inline int agent_for(const Hierarchy& hierarchy, int node, int other) noexcept {
  const int which = other < node ? other : other - 1;
  return which % static_cast<int>(hierarchy.members(node).size());
}

/// The nodes with which one member of a node exchanges for all of it, and the ranks there.
struct NodeExchanges {
  NodeExchanges(const Hierarchy& hierarchy, int node, int agent) {
    for (int other = 0; other < hierarchy.nodes(); ++other) {
      if (other == node || agent_for(hierarchy, node, other) != agent) continue;
      nodes.push_back(other);
      const std::vector<int>& members = hierarchy.members(other);
      ranks.insert(ranks.end(), members.begin(), members.end());
      ends.push_back(ranks.size());
    }
  }
  std::vector<int> nodes, ranks;
  std::vector<std::size_t> ends;  ///< of each node's ranks in `ranks`
  [[nodiscard]] std::size_t begin(std::size_t node) const noexcept { return node == 0 ? 0 : ends[node - 1]; }
};

/// Members of a node that are agents: the first ones.
[[nodiscard]] inline int agents_of(const Hierarchy& hierarchy, int node) noexcept {
  return std::min(static_cast<int>(hierarchy.members(node).size()), hierarchy.nodes() - 1);
}

}  // namespace starling::mpi::coll

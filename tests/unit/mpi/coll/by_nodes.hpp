// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  An algorithm for several nodes as one that any team can run. Layer: test.

#include <map>
#include <memory>
#include <vector>

#include "mpi/coll/arguments.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/schedule.hpp"

namespace starling::mpi::coll::testing {

/// How ranks lie on nodes: 1, 2, 3 ... neighbours; every third; all but the last on one.
enum class Lie { growing, dealt, lopsided };
inline constexpr Lie kLies[] = {Lie::growing, Lie::dealt, Lie::lopsided};

/// Lives until the end, as schedules look at it while they run.
inline const Hierarchy& nodes_of(int size, Lie lie) {
  static std::map<std::pair<int, Lie>, std::unique_ptr<Hierarchy>> made;
  std::unique_ptr<Hierarchy>& hierarchy = made[{size, lie}];
  if (hierarchy != nullptr) return *hierarchy;
  std::vector<std::uint32_t> node_of;
  std::uint32_t node = 0, left = 1;
  for (int rank = 0; rank < size; ++rank) {
    if (lie == Lie::growing) {
      if (left == 0) left = ++node + 1;
      --left;
    } else {
      node = lie == Lie::dealt ? static_cast<std::uint32_t>(rank % 3) : rank == size - 1 ? 1 : 0;
    }
    node_of.push_back(node);
  }
  hierarchy = std::make_unique<Hierarchy>(node_of);
  return *hierarchy;
}

template <auto kBuild, Lie kLie, class Asked>
void by_nodes(Schedule& schedule, const Team& team, const Asked& asked) {
  Team over_nodes = team;
  over_nodes.hierarchy = &nodes_of(team.size, kLie);
  kBuild(schedule, over_nodes, asked);
}

/// Calls check(builder) for each way in which ranks may lie on nodes; `ordered`: where nodes follow each
/// other.
template <auto kBuild, class Asked, class Check>
void each_lie(Check&& check, bool ordered = false) {
  using Builder = void (*)(Schedule&, const Team&, const Asked&);
  check(static_cast<Builder>(by_nodes<kBuild, Lie::growing, Asked>));
  check(static_cast<Builder>(by_nodes<kBuild, Lie::lopsided, Asked>));
  if (!ordered) check(static_cast<Builder>(by_nodes<kBuild, Lie::dealt, Asked>));
}

}  // namespace starling::mpi::coll::testing

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The members of a communicator by node: who is where, and who speaks for a node. Layer: mpi.
/// docs/design/collectives.md
///
/// Made from the map of nodes that all processes share, so all members make the same one, without a message.
///
/// Threads: a value.

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/coll/arguments.hpp"

namespace starling::mpi::coll {

class Hierarchy {
 public:
  /// `node_of`: for each rank a number of its node. Nodes are then in the order of their lowest ranks.
  explicit Hierarchy(std::span<const std::uint32_t> node_of);

  [[nodiscard]] int nodes() const noexcept { return static_cast<int>(members_.size()); }
  /// Ranks on a node, ascending.
  [[nodiscard]] const std::vector<int>& members(int node) const noexcept {
    return members_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] int node_of(int rank) const noexcept { return node_of_[static_cast<std::size_t>(rank)]; }
  /// A rank's number among the members of its node.
  [[nodiscard]] int place_of(int rank) const noexcept { return place_of_[static_cast<std::size_t>(rank)]; }
  /// Who speaks for a node, as a number among its members. Another one on each node in turn: ranks are often
  /// bound by their number on the node, so where nodes share a machine the speakers would share a core.
  [[nodiscard]] int speaker_place(int node) const noexcept {
    return node % static_cast<int>(members(node).size());
  }
  [[nodiscard]] int speaker(int node) const noexcept {
    return members(node)[static_cast<std::size_t>(speaker_place(node))];
  }
  /// Whether there are several nodes, and fewer than ranks.
  [[nodiscard]] bool useful() const noexcept { return nodes() > 1 && members_.size() < node_of_.size(); }
  /// Members of the node that has most.
  [[nodiscard]] int widest() const noexcept { return widest_; }
  /// Members of the node that has fewest.
  [[nodiscard]] int narrowest() const noexcept { return narrowest_; }
  /// Whether each node's members are neighbours in rank: what nodes combine one after the other is then
  /// combined in rank order.
  [[nodiscard]] bool ordered() const noexcept { return ordered_; }

 private:
  std::vector<std::vector<int>> members_;
  std::vector<int> node_of_, place_of_;
  int widest_ = 0, narrowest_ = 0;
  bool ordered_ = true;
};

/// One process's place in a collective of two levels: among the members of its node, and, if it speaks for
/// the node, among those who do.
struct Levels {
  /// `root` speaks for its node; negative: there is none.
  Levels(const Hierarchy& hierarchy, int rank, int root = -1);
  /// The highest of each node speaks.
  [[nodiscard]] static Levels of_last(const Hierarchy& hierarchy, int rank);

  std::span<const int> local_peers;  ///< ranks of the own node
  Team local;                        ///< this process among them
  int head = 0;                      ///< the number among them of who speaks for the node
  std::vector<int> speakers;         ///< ranks, one of each node
  Team across;                       ///< the own node among the nodes
  int root_node = 0;
  [[nodiscard]] bool speaks() const noexcept { return local.rank == head; }
};

}  // namespace starling::mpi::coll

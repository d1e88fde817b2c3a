// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Who is above and below whom in the trees of a group. Layer: framework.
///
/// The root of a node is its lowest member. Roots are ordered by their rank and form a k-ary tree; the lowest
/// of all leads. Every member computes the same from the members and the node map. For the ranks of a job in
/// blocks of equal size that takes no time of the job's size.
/// Threads: pure.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "core/node_map.hpp"
#include "core/proc_list.hpp"

namespace starling::bootstrap {

/// Members directly below the root of their node: for what a node has in common.
struct RootsPlace {
  bool root = false;             ///< this process is the root of its node
  std::optional<ProcId> parent;  ///< the root of the own node, or the parent of this root; none: the leader
  std::vector<ProcId> node_children;  ///< of a root: the other members on its node
  std::vector<ProcId> root_children;  ///< of a root: the roots below it
  std::uint32_t nodes = 1;            ///< of all members
};

/// Whether two processes are known to be on one node. `nodes` maps the world of `self` (null: one node);
/// nodes of other worlds are unknown here.
[[nodiscard]] bool on_one_node(const NodeMap* nodes, ProcId proc, ProcId self) noexcept;

/// `nodes` null: all processes are on one node. Members are of the world of `self`.
[[nodiscard]] RootsPlace place_among_roots(const ProcListPtr& members, ProcId self, const NodeMap* nodes,
                                           std::uint32_t arity);

/// Ranks of all roots, ascending.
[[nodiscard]] std::vector<std::uint32_t> ranks_of_roots(const ProcListPtr& members, const NodeMap* nodes);

/// Members of a node in a tree of their own, whose top is the node's root: every process has few neighbours.
struct TreePlace {
  std::optional<ProcId> parent;
  std::vector<ProcId> children;
};
[[nodiscard]] TreePlace place_in_tree(const ProcListPtr& members, ProcId self, const NodeMap* nodes,
                                      std::uint32_t arity);

}  // namespace starling::bootstrap

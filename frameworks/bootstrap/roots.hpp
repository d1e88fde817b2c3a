// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The tree of an exchange: members below the root of their node, roots in a k-ary tree. Layer:
/// framework.
///
/// The root of a node is its lowest member. Roots are ordered by their rank; the lowest of all leads. Every
/// member computes the same from the sorted members and the node map.
/// Threads: pure.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "core/proc_list.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"

namespace starling::bootstrap {

struct RootsPlace {
  bool root = false;             ///< this process is the root of its node
  std::optional<ProcId> parent;  ///< the root of the own node, or the parent of this root; none: the leader
  std::vector<ProcId> node_children;  ///< of a root: the other members on its node
  std::vector<ProcId> root_children;  ///< of a root: the roots below it
  std::vector<std::uint32_t> roots;   ///< ranks of all roots, ascending
};

[[nodiscard]] RootsPlace place_among_roots(const ProcListPtr& members, ProcId self, const Places& places,
                                           std::uint32_t arity);

}  // namespace starling::bootstrap

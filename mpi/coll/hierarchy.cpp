// SPDX-License-Identifier: BSD-3-Clause
// Sorting the members of a communicator by node. Layer: mpi. docs/design/collectives.md

#include "mpi/coll/hierarchy.hpp"

#include <algorithm>
#include <unordered_map>

namespace starling::mpi::coll {

Hierarchy::Hierarchy(std::span<const std::uint32_t> node_of) {
  std::unordered_map<std::uint32_t, int> seen;
  for (const std::uint32_t node : node_of) {
    const auto [at, fresh] = seen.try_emplace(node, nodes());
    if (fresh) members_.emplace_back();
    std::vector<int>& members = members_[static_cast<std::size_t>(at->second)];
    const int rank = static_cast<int>(node_of_.size());
    ordered_ = ordered_ && (members.empty() || members.back() == rank - 1);
    place_of_.push_back(static_cast<int>(members.size()));
    node_of_.push_back(at->second);
    members.push_back(rank);
    widest_ = std::max(widest_, static_cast<int>(members.size()));
  }
  narrowest_ = widest_;
  for (const std::vector<int>& members : members_)
    narrowest_ = std::min(narrowest_, static_cast<int>(members.size()));
}

Levels::Levels(const Hierarchy& hierarchy, int rank, int root)
    : local_peers(hierarchy.members(hierarchy.node_of(rank))),
      local{hierarchy.place_of(rank), static_cast<int>(local_peers.size())},
      head(hierarchy.speaker_place(hierarchy.node_of(rank))),
      across{hierarchy.node_of(rank), hierarchy.nodes()} {
  for (int node = 0; node < hierarchy.nodes(); ++node) speakers.push_back(hierarchy.speaker(node));
  if (root < 0) return;
  root_node = hierarchy.node_of(root);
  speakers[static_cast<std::size_t>(root_node)] = root;
  if (root_node == across.rank) head = hierarchy.place_of(root);
}

Levels Levels::of_last(const Hierarchy& hierarchy, int rank) {
  Levels levels(hierarchy, rank);
  for (int node = 0; node < hierarchy.nodes(); ++node)
    levels.speakers[static_cast<std::size_t>(node)] = hierarchy.members(node).back();
  levels.head = levels.local.size - 1;
  return levels;
}

}  // namespace starling::mpi::coll

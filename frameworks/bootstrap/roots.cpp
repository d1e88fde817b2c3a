// SPDX-License-Identifier: BSD-3-Clause
// Who is below whom. What is hard: a world of a million processes, where every one of them computes this.
// Layer: framework.

#include "frameworks/bootstrap/roots.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/expects.hpp"
#include "frameworks/bootstrap/group_key.hpp"

namespace starling::bootstrap {
namespace {

std::uint32_t node_of(const NodeMap* nodes, ProcId proc) {
  return nodes == nullptr ? 0 : to_int(nodes->node_of(proc.rank));
}

/// Consecutive ranks on nodes with equally many, in order: everything follows by division.
struct Regular {
  ProcId first;
  std::uint32_t size = 0, each = 1;

  [[nodiscard]] static std::optional<Regular> of(const ProcList& members, const NodeMap* nodes) {
    if (members.size() == 0 || !members.consecutive()) return std::nullopt;
    const Regular all{members.at(0), members.size(), 0};
    const std::uint64_t end = std::uint64_t{all.first.rank} + all.size;
    if (nodes == nullptr) return Regular{all.first, all.size, static_cast<std::uint32_t>(end)};
    if (nodes->blocks().size() != 1) return std::nullopt;
    const NodeMap::Block& block = nodes->blocks().front();
    if (end > std::uint64_t{block.node_count} * block.ranks_each) return std::nullopt;  // the map wraps
    return Regular{all.first, all.size, block.ranks_each};
  }
  [[nodiscard]] std::uint32_t end() const { return first.rank + size; }
  [[nodiscard]] std::uint32_t index_of(std::uint32_t rank) const { return rank / each - first.rank / each; }
  [[nodiscard]] std::uint32_t nodes() const { return index_of(end() - 1) + 1; }
  [[nodiscard]] ProcId root(std::uint32_t index) const {
    return {first.world, index == 0 ? first.rank : (first.rank / each + index) * each};
  }
};

/// The nodes of a group in the order of their roots, and the members on the own one.
class Seating {
 public:
  Seating(const ProcListPtr& members, ProcId self, const NodeMap* nodes)
      : regular_(Regular::of(*members, nodes)) {
    if (regular_) {
      own_ = regular_->index_of(self.rank);
      const ProcId from = regular_->root(own_);
      const auto last = std::uint64_t{from.rank} / regular_->each * regular_->each + regular_->each;
      for (std::uint32_t rank = from.rank; rank < std::min<std::uint64_t>(last, regular_->end()); ++rank)
        here_.push_back({from.world, rank});
      return;
    }
    const Sorted sorted(members);
    const std::uint32_t own_node = node_of(nodes, self);
    std::unordered_map<std::uint32_t, std::uint32_t> known;
    for (std::uint32_t i = 0; i < sorted.size(); ++i) {
      const ProcId member = sorted.at(i);
      const std::uint32_t node = node_of(nodes, member);
      if (known.try_emplace(node, static_cast<std::uint32_t>(roots_.size())).second) {
        if (node == own_node) own_ = static_cast<std::uint32_t>(roots_.size());
        roots_.push_back(member);
      }
      if (node == own_node) here_.push_back(member);
    }
  }
  [[nodiscard]] std::uint32_t nodes() const {
    return regular_ ? regular_->nodes() : static_cast<std::uint32_t>(roots_.size());
  }
  [[nodiscard]] ProcId root(std::uint32_t index) const {
    return regular_ ? regular_->root(index) : roots_[index];
  }
  [[nodiscard]] const std::vector<ProcId>& here() const { return here_; }
  [[nodiscard]] std::optional<ProcId> parent_of_root(std::uint32_t arity) const {
    if (own_ == 0) return std::nullopt;
    return root((own_ - 1) / arity);
  }
  void add_root_children(std::vector<ProcId>& children, std::uint32_t arity) const {
    const std::uint64_t first = std::uint64_t{own_} * arity + 1;
    for (std::uint64_t child = first; child < std::min<std::uint64_t>(first + arity, nodes()); ++child)
      children.push_back(root(static_cast<std::uint32_t>(child)));
  }

 private:
  std::optional<Regular> regular_;
  std::vector<ProcId> roots_;  // of what is not regular
  std::uint32_t own_ = 0;
  std::vector<ProcId> here_;
};

}  // namespace

bool on_one_node(const NodeMap* nodes, ProcId proc, ProcId self) noexcept {
  return proc.world == self.world && node_of(nodes, proc) == node_of(nodes, self);
}

RootsPlace place_among_roots(const ProcListPtr& members, ProcId self, const NodeMap* nodes,
                             std::uint32_t arity) {
  const Seating seating(members, self, nodes);
  const std::vector<ProcId>& here = seating.here();
  expects(!here.empty(), "a process asked for its place in a group it is not in");
  RootsPlace place;
  place.nodes = seating.nodes();
  place.root = here.front() == self;
  if (!place.root) {
    place.parent = here.front();
    return place;
  }
  place.parent = seating.parent_of_root(arity);
  place.node_children.assign(here.begin() + 1, here.end());
  seating.add_root_children(place.root_children, arity);
  return place;
}

std::vector<std::uint32_t> ranks_of_roots(const ProcListPtr& members, const NodeMap* nodes) {
  const Seating seating(members, members->at(0), nodes);
  std::vector<std::uint32_t> ranks;
  ranks.reserve(seating.nodes());
  for (std::uint32_t i = 0; i < seating.nodes(); ++i) ranks.push_back(seating.root(i).rank);
  return ranks;
}

TreePlace place_in_tree(const ProcListPtr& members, ProcId self, const NodeMap* nodes, std::uint32_t arity) {
  const Seating seating(members, self, nodes);
  const std::vector<ProcId>& here = seating.here();
  const auto own = std::lower_bound(here.begin(), here.end(), self);
  expects(own != here.end() && *own == self, "a process asked for its place in a group it is not in");
  const auto mine = static_cast<std::size_t>(own - here.begin());
  TreePlace place;
  place.parent = mine == 0 ? seating.parent_of_root(arity) : std::optional(here[(mine - 1) / arity]);
  if (mine == 0) seating.add_root_children(place.children, arity);
  for (std::size_t child = mine * arity + 1; child <= mine * arity + arity && child < here.size(); ++child)
    place.children.push_back(here[child]);
  return place;
}

}  // namespace starling::bootstrap

// SPDX-License-Identifier: BSD-3-Clause
// Who is below whom. Layer: framework.

#include "frameworks/bootstrap/roots.hpp"

#include <unordered_map>

#include "core/expects.hpp"
#include "frameworks/bootstrap/group_key.hpp"

namespace starling::bootstrap {

RootsPlace place_among_roots(const ProcListPtr& members, ProcId self, const Places& places,
                             std::uint32_t arity) {
  RootsPlace place;
  const Sorted sorted(members);
  const std::uint32_t own_node = places.node_of(places.context, self.rank);
  std::unordered_map<std::uint32_t, ProcId> root_of;
  std::size_t mine = 0;
  for (std::uint32_t i = 0; i < sorted.size(); ++i) {
    const ProcId member = sorted.at(i);
    const std::uint32_t node = places.node_of(places.context, member.rank);
    const auto [at, first] = root_of.try_emplace(node, member);
    if (first) {
      if (node == own_node) mine = place.roots.size();
      place.roots.push_back(member.rank);
    } else if (node == own_node && at->second == self) {
      place.node_children.push_back(member);
    }
  }
  const auto own_root = root_of.find(own_node);
  expects(own_root != root_of.end(), "a process asked for its place in a group it is not in");
  place.root = own_root->second == self;
  if (!place.root) {
    place.parent = own_root->second;
    return place;
  }
  if (mine > 0) place.parent = ProcId{self.world, place.roots[(mine - 1) / arity]};
  for (std::size_t child = mine * arity + 1; child <= mine * arity + arity && child < place.roots.size();
       ++child) {
    place.root_children.push_back(ProcId{self.world, place.roots[child]});
  }
  return place;
}

}  // namespace starling::bootstrap

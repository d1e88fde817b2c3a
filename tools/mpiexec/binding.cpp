// SPDX-License-Identifier: BSD-3-Clause
// Places for ranks. Layer: tools.
//
// What both peers do, as seen with hwloc's synthetic machines: places are groups of objects that follow each
// other; if the unit of -map-by is larger, its objects have their turn, each giving its next place.

#include "tools/mpiexec/binding.hpp"

#include <algorithm>

namespace starling::mpiexec {
namespace {

using Indices = std::vector<std::size_t>;  ///< of processors in the machine

/// `count` neighbours each become one; what is left over at the end is no group.
std::vector<Indices> grouped(const std::vector<Indices>& objects, std::size_t count, bool rest) {
  std::vector<Indices> groups;
  for (std::size_t i = 0; i < objects.size(); i += count) {
    if (i + count > objects.size() && !rest) break;
    Indices& group = groups.emplace_back();
    for (std::size_t at = i; at < std::min(i + count, objects.size()); ++at)
      group.insert(group.end(), objects[at].begin(), objects[at].end());
  }
  return groups;
}

/// By its kind: what has cores of its own for several ranks, or what the user says may be shared.
bool may_share(const BindTo& bind) { return bind.overload || bind.unit >= Unit::l3cache; }

bool contains(const Indices& group, std::size_t processor) {
  return std::find(group.begin(), group.end(), processor) != group.end();
}

/// The places of each object that has its turn: those in it, or the one that it is part of.
std::vector<std::vector<Indices>> places_of(const std::vector<Indices>& containers, const Machine& machine,
                                            const BindTo& bind, const MapBy& map) {
  std::vector<std::vector<Indices>> found(containers.size());
  const std::vector<Indices> objects = objects_of(machine, bind.unit);
  const std::vector<Indices> all = grouped(objects, bind.count, false);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (map.unit < bind.unit) {
      for (const Indices& place : all) {
        if (contains(place, containers[i].front())) found[i].push_back(place);
      }
      continue;
    }
    std::vector<Indices> inside;
    for (const Indices& object : objects) {
      if (contains(containers[i], object.front())) inside.push_back(object);
    }
    found[i] = grouped(inside, bind.count, false);
  }
  return found;
}

std::vector<Indices> in_turn(const std::vector<std::vector<Indices>>& groups) {
  std::vector<Indices> order;
  bool more = true;
  for (std::size_t round = 0; more; ++round) {
    more = false;
    for (const std::vector<Indices>& group : groups) {
      if (round >= group.size()) continue;
      order.push_back(group[round]);
      more = true;
    }
  }
  return order;
}

/// All places in the order in which ranks take them.
std::vector<Indices> order_of_places(const BindTo& bind, const MapBy& map, const Machine& machine) {
  const Unit unit = map.unit == Unit::none ? Unit::machine : map.unit;
  const std::vector<Indices> containers = grouped(objects_of(machine, unit), map.count, true);
  return in_turn(places_of(containers, machine, bind, {.unit = unit}));
}

/// ppr:N:UNIT: N places of each object, one object after the other.
std::vector<Indices> places_per_object(const BindTo& bind, const MapBy& map, const Machine& machine) {
  std::vector<Indices> order;
  for (const auto& inside : places_of(objects_of(machine, map.unit), machine, bind, map)) {
    const bool enough = map.per_unit <= inside.size() || may_share(bind);
    if (!enough || inside.empty()) return {};
    for (std::uint32_t n = 0; n < map.per_unit; ++n) order.push_back(inside[n % inside.size()]);
  }
  return order;
}

/// Numbers the places that are taken anew: in the machine's order, or objects of a kind in turn.
void rank_by(Unit unit, const Machine& machine, std::vector<Indices>& taken) {
  std::stable_sort(taken.begin(), taken.end(),
                   [](const Indices& one, const Indices& other) { return one[0] < other[0]; });
  if (unit == Unit::none) return;
  std::vector<std::vector<Indices>> groups;
  for (const Indices& object : objects_of(machine, unit)) {
    std::vector<Indices>& group = groups.emplace_back();
    for (const Indices& place : taken) {
      if (contains(object, place[0])) group.push_back(place);
    }
  }
  taken = in_turn(groups);
}

cpu_set_t set_of(const Machine& machine, const Indices& place) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t i : place) CPU_SET(machine[i].number, &set);
  return set;
}

}  // namespace

std::vector<cpu_set_t> places(const BindTo& bind, const MapBy& map, const Machine& machine,
                              std::size_t ranks) {
  if (bind.unit == Unit::none || machine.empty()) return {};
  std::vector<Indices> order =
      map.per_unit > 0 ? places_per_object(bind, map, machine) : order_of_places(bind, map, machine);
  const std::size_t there = order.size();
  const bool enough_cores = bind.overload || ranks <= objects_of(machine, Unit::core).size();
  if (there == 0 || (ranks > there && !(may_share(bind) && enough_cores))) return {};
  for (std::size_t rank = there; rank < ranks; ++rank) order.push_back(order[rank - there]);
  order.resize(ranks);
  if (map.ranking_said) rank_by(map.ranking, machine, order);
  std::vector<cpu_set_t> sets;
  for (const Indices& place : order) sets.push_back(set_of(machine, place));
  return sets;
}

}  // namespace starling::mpiexec

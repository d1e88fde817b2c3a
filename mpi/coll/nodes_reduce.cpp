// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Reduce_scatter(_block), MPI_Scan and MPI_Exscan over several nodes. Layer: mpi.
/// docs/design/collectives.md

#include <span>
#include <vector>

#include "mpi/coll/among.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/select.hpp"

namespace starling::mpi::coll {
namespace {

/// Where each rank's part of the vector begins, in elements.
std::vector<std::uint64_t> starts_of(const ReduceScatter& asked, int ranks) {
  std::vector<std::uint64_t> starts;
  std::uint64_t at = 0;
  for (int rank = 0; rank < ranks; at += asked.part(rank++)) starts.push_back(at);
  return starts;
}

/// The results of a node's members, as parts of the vector and one after the other.
struct Parts {
  Parts(const Hierarchy& hierarchy, const ReduceScatter& asked, std::span<const std::uint64_t> all,
        int node) {
    for (const int rank : hierarchy.members(node)) {
      starts.push_back(all[static_cast<std::size_t>(rank)]);
      counts.push_back(static_cast<std::int64_t>(asked.part(rank)));
      places.push_back(count);
      count += counts.back();
    }
  }
  std::vector<std::uint64_t> starts;         // in the vector
  std::vector<std::int64_t> counts, places;  // among those of the node
  std::int64_t count = 0;
};

/// The parts of the vector in the order of nodes.
const void* by_node(Schedule& schedule, const std::vector<Parts>& nodes, const ReduceScatter& asked,
                    const void* vector, std::uint64_t count) {
  void* const sorted = schedule.scratch(asked.type, count);
  std::uint64_t at = 0;
  for (const Parts& node : nodes) {
    for (std::size_t i = 0; i < node.counts.size(); ++i) {
      const auto elements = static_cast<std::uint64_t>(node.counts[i]);
      schedule.copy(region(element(vector, node.starts[i], asked.type), elements, asked.type),
                    region(element(sorted, at, asked.type), elements, asked.type));
      at += elements;
    }
  }
  schedule.next_round();
  return sorted;
}

/// Each node's last member has what the node amounts to, and hears what all nodes before amount to.
class Prefix {
 public:
  Prefix(Schedule& schedule, const Team& team, const Reduce& asked)
      : schedule_(schedule), asked_(asked), levels_(Levels::of_last(*team.hierarchy, team.rank)) {}
  [[nodiscard]] const Levels& levels() const noexcept { return levels_; }
  [[nodiscard]] bool first_node() const noexcept { return levels_.across.rank == 0; }
  /// `sum`: of the members of the node up to this one. Null on the first node.
  [[nodiscard]] void* below(const void* sum) {
    void* const prefix = first_node() ? nullptr : schedule_.scratch(asked_.type, asked_.count);
    if (levels_.speaks()) {
      const Among lasts(schedule_, levels_.speakers);
      Reduce part = asked_;
      part.send = sum;
      part.receive = prefix;
      part.in_place = false;
      exscan(schedule_, levels_.across, part);
    }
    if (first_node()) return nullptr;
    const Among local_peers(schedule_, levels_.local_peers);
    bcast(schedule_, levels_.local, {}, Bcast{prefix, asked_.count, asked_.type, levels_.head});
    return prefix;
  }

 private:
  Schedule& schedule_;
  const Reduce& asked_;
  Levels levels_;
};

}  // namespace

void reduce_scatter_nodes(Schedule& schedule, const Team& team, const ReduceScatter& asked) {
  const Hierarchy& hierarchy = *team.hierarchy;
  const Levels levels(hierarchy, team.rank);
  const std::uint64_t count = asked.offset(team.size);
  const std::vector<std::uint64_t> starts = starts_of(asked, team.size);
  const Parts own(hierarchy, asked, starts, levels.across.rank);
  void* const whole = levels.speaks() ? schedule.scratch(asked.type, count) : nullptr;
  void* const result =
      levels.speaks() ? schedule.scratch(asked.type, static_cast<std::uint64_t>(own.count)) : nullptr;
  {
    const Among local_peers(schedule, levels.local_peers);
    Reduce part = asked.whole(whole, count);
    part.root = levels.head;
    reduce(schedule, levels.local, {}, part);
  }
  if (levels.speaks()) {
    std::vector<Parts> nodes;
    std::vector<std::int64_t> counts;
    for (int node = 0; node < hierarchy.nodes(); ++node)
      counts.push_back(nodes.emplace_back(hierarchy, asked, starts, node).count);
    const Among speakers(schedule, levels.speakers);
    ReduceScatter part = asked;
    part.send = hierarchy.ordered() ? whole : by_node(schedule, nodes, asked, whole, count);
    part.receive = result;
    part.counts = Ints{nullptr, counts.data()};
    part.in_place = false;
    reduce_scatter(schedule, levels.across, {}, part);
  }
  const Among local_peers(schedule, levels.local_peers);
  Scatter part;
  part.send = Blocks(result, Ints{nullptr, own.counts.data()}, Ints{nullptr, own.places.data()}, asked.type);
  part.receive = asked.receive;
  part.count = asked.part(team.rank);
  part.type = asked.type;
  part.root = levels.head;
  scatter_linear(schedule, levels.local, part);
}

void scan_nodes(Schedule& schedule, const Team& team, const Reduce& asked) {
  Prefix prefix(schedule, team, asked);
  {
    const Among local_peers(schedule, prefix.levels().local_peers);
    scan_doubling(schedule, prefix.levels().local, asked);
  }
  const void* const below = prefix.below(asked.receive);
  if (below != nullptr) schedule.reduce(below, asked.receive, asked.count);
  schedule.next_round();
}

void exscan_nodes(Schedule& schedule, const Team& team, const Reduce& asked) {
  Prefix prefix(schedule, team, asked);
  const Levels& levels = prefix.levels();
  void* const sum = schedule.scratch(asked.type, asked.count);
  const bool first = levels.local.rank == 0;
  {
    const Among local_peers(schedule, levels.local_peers);
    Reduce part = asked;
    part.send = asked.in_place ? asked.receive : asked.send;
    part.receive = sum;
    part.in_place = false;
    scan_doubling(schedule, levels.local, part);
  }
  {
    const Among local_peers(schedule, levels.local_peers);  // what those before this one amount to
    if (!first) schedule.receive(levels.local.rank - 1, region(asked.receive, asked.count, asked.type));
    if (levels.local.rank + 1 < levels.local.size)
      schedule.send(levels.local.rank + 1, region(sum, asked.count, asked.type));
  }
  void* const below = prefix.below(sum);
  if (below == nullptr) return;
  if (first)
    schedule.copy(region(below, asked.count, asked.type), region(asked.receive, asked.count, asked.type));
  if (!first) schedule.reduce(below, asked.receive, asked.count);
  schedule.next_round();
}

}  // namespace starling::mpi::coll

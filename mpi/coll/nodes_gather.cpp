// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Allgather(v), MPI_Gather and MPI_Scatter over several nodes: the blocks of a node travel as
/// one. Every process knows the packed size of each block. Layer: mpi. docs/design/collectives.md

#include <vector>

#include "mpi/coll/among.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/select.hpp"

namespace starling::mpi::coll {
namespace {

std::size_t nth(int i) noexcept { return static_cast<std::size_t>(i); }
Ints ints(const std::vector<std::int64_t>& values) noexcept { return {nullptr, values.data()}; }

/// Each node's blocks as one block: in the user's buffer, if they stand there one after the other, else
/// packed in memory of the schedule.
class NodeBlocks {
 public:
  NodeBlocks(Schedule& schedule, const Hierarchy& hierarchy, const Blocks& blocks)
      : hierarchy_(hierarchy),
        blocks_(blocks),
        direct_(blocks.uniform() && hierarchy.ordered()),
        type_(direct_ ? blocks.type(0) : packed_type()) {
    std::int64_t at = 0;
    for (int node = 0; node < hierarchy.nodes(); ++node) {
      std::int64_t count = 0;
      for (const int rank : hierarchy.members(node)) {
        places_.push_back(at + count);
        sizes_.push_back(static_cast<std::int64_t>(direct_ ? blocks.count(rank) : blocks.bytes(rank)));
        count += sizes_.back();
      }
      first_.push_back(static_cast<std::size_t>(places_.size() - hierarchy.members(node).size()));
      counts_.push_back(count);
      starts_.push_back(at);
      equal_ = equal_ && count == counts_.front();
      at += count;
    }
    total_ = static_cast<std::uint64_t>(at);
    base_ = direct_ ? blocks.address(0) : schedule.scratch(total_);
  }
  NodeBlocks(const NodeBlocks&) = delete;
  NodeBlocks& operator=(const NodeBlocks&) = delete;

  /// A block for each node.
  [[nodiscard]] Blocks by_node() const noexcept {
    if (equal_) return Blocks(base_, static_cast<std::uint64_t>(counts_.front()), type_);
    return Blocks(base_, ints(counts_), ints(starts_), type_);
  }
  /// Those of a node's members.
  [[nodiscard]] Blocks inside(int node) const noexcept {
    const std::size_t first = first_[nth(node)];
    return Blocks(base_, {nullptr, sizes_.data() + first}, {nullptr, places_.data() + first}, type_);
  }
  [[nodiscard]] Bcast all() const noexcept { return {base_, total_, type_, 0}; }
  /// From packed memory to where they belong; a round of its own. `except`: a rank whose block is there.
  void unpack(Schedule& schedule, int except) const {
    if (direct_) return;
    for (int node = 0; node < hierarchy_.nodes(); ++node) {
      for (int place = 0; place < static_cast<int>(hierarchy_.members(node).size()); ++place) {
        const int rank = hierarchy_.members(node)[nth(place)];
        if (rank != except) schedule.copy(inside(node).block(place), blocks_.block(rank));
      }
    }
    schedule.next_round();
  }

 private:
  const Hierarchy& hierarchy_;
  const Blocks& blocks_;
  const bool direct_;
  const Type type_;
  std::vector<std::int64_t> counts_, starts_;  // of nodes
  std::vector<std::int64_t> sizes_, places_;   // of ranks, node by node
  std::vector<std::size_t> first_;             // of a node in these
  std::uint64_t total_ = 0;
  bool equal_ = true;
  void* base_ = nullptr;
};

/// At a root: the equal blocks of a node's members, in place if they are neighbours in rank, else packed.
struct NodeRun {
  NodeRun(Schedule& schedule, const std::vector<int>& members, const Blocks& blocks)
      : ranks(members), all(blocks), direct(members.back() - members.front() == size() - 1) {
    if (direct) {
      message = blocks.run(members.front(), size());
      inside = Blocks(blocks.address(members.front()), blocks.count(0), blocks.type(0));
    } else {
      const std::uint64_t bytes = blocks.bytes(0) * members.size();
      message = packed(schedule.scratch(bytes), bytes);
      inside = Blocks(message.base, blocks.bytes(0), packed_type());
    }
  }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks.size()); }
  void pack(Schedule& schedule) const {
    for (int place = 0; place < size() && !direct; ++place)
      schedule.copy(all.block(ranks[nth(place)]), inside.block(place));
  }
  void unpack(Schedule& schedule) const {
    for (int place = 0; place < size() && !direct; ++place)
      schedule.copy(inside.block(place), all.block(ranks[nth(place)]));
  }
  const std::vector<int>& ranks;
  const Blocks& all;
  bool direct;
  Buffer message;
  Blocks inside;
};

std::vector<NodeRun> runs(Schedule& schedule, const Hierarchy& hierarchy, const Blocks& blocks) {
  std::vector<NodeRun> nodes;
  for (int node = 0; node < hierarchy.nodes(); ++node)
    nodes.emplace_back(schedule, hierarchy.members(node), blocks);
  return nodes;
}

}  // namespace

void allgather_nodes(Schedule& schedule, const Team& team, const Gather& asked) {
  const Levels levels(*team.hierarchy, team.rank);
  const NodeBlocks nodes(schedule, *team.hierarchy, asked.receive);
  {
    const Among local_peers(schedule, levels.local_peers);
    Gather part = asked;
    if (asked.in_place) {
      part.send = asked.receive.address(team.rank);
      part.count = asked.receive.count(team.rank);
      part.type = asked.receive.type(team.rank);
    }
    part.receive = nodes.inside(levels.across.rank);
    part.root = levels.head;
    part.in_place = false;
    gather_linear(schedule, levels.local, part);
  }
  if (levels.speaks()) {
    const Among speakers(schedule, levels.speakers);
    Gather part;
    part.receive = nodes.by_node();
    part.in_place = true;
    allgather(schedule, levels.across, {}, part);
  }
  {
    const Among local_peers(schedule, levels.local_peers);
    Bcast all = nodes.all();
    all.root = levels.head;
    bcast(schedule, levels.local, {}, all);
  }
  nodes.unpack(schedule, asked.in_place ? team.rank : -1);
}

void gather_nodes(Schedule& schedule, const Team& team, const Gather& asked) {
  const Levels levels(*team.hierarchy, team.rank, asked.root);
  Gather part = asked;
  part.root = levels.head;
  if (team.rank == asked.root) {
    const std::vector<NodeRun> nodes = runs(schedule, *team.hierarchy, asked.receive);
    for (int node = 0; node < levels.across.size; ++node) {
      if (node != levels.root_node) schedule.receive(levels.speakers[nth(node)], nodes[nth(node)].message);
    }
    const NodeRun& own = nodes[nth(levels.root_node)];
    part.receive = own.inside;
    if (asked.in_place && !own.direct) {
      part.send = asked.receive.address(team.rank);
      part.count = asked.receive.count(team.rank);
      part.type = asked.receive.type(team.rank);
      part.in_place = false;
    }
    {
      const Among local_peers(schedule, levels.local_peers);
      gather(schedule, levels.local, {}, part);
    }
    for (const NodeRun& node : nodes) node.unpack(schedule);
    return schedule.next_round();
  }
  const std::uint64_t block = asked.count * asked.type.size;
  const bool carries = levels.speaks();  // the root's node has another speaker
  std::byte* const all = carries ? schedule.scratch(block * levels.local_peers.size()) : nullptr;
  {
    const Among local_peers(schedule, levels.local_peers);
    part.receive = Blocks(all, block, packed_type());
    gather(schedule, levels.local, {}, part);
  }
  if (carries) schedule.send(asked.root, packed(all, block * levels.local_peers.size()));
  schedule.next_round();
}

void scatter_nodes(Schedule& schedule, const Team& team, const Scatter& asked) {
  const Levels levels(*team.hierarchy, team.rank, asked.root);
  Scatter part = asked;
  part.root = levels.head;
  if (team.rank == asked.root) {
    const std::vector<NodeRun> nodes = runs(schedule, *team.hierarchy, asked.send);
    for (const NodeRun& node : nodes) node.pack(schedule);
    schedule.next_round();
    for (int node = 0; node < levels.across.size; ++node) {
      if (node != levels.root_node) schedule.send(levels.speakers[nth(node)], nodes[nth(node)].message);
    }
    part.send = nodes[nth(levels.root_node)].inside;
    const Among local_peers(schedule, levels.local_peers);
    return scatter(schedule, levels.local, {}, part);
  }
  const std::uint64_t block = asked.count * asked.type.size;
  const bool carries = levels.speaks();
  std::byte* const all = carries ? schedule.scratch(block * levels.local_peers.size()) : nullptr;
  if (carries) schedule.receive(asked.root, packed(all, block * levels.local_peers.size()));
  schedule.next_round();
  const Among local_peers(schedule, levels.local_peers);
  part.send = Blocks(all, block, packed_type());
  scatter(schedule, levels.local, {}, part);
}

}  // namespace starling::mpi::coll

// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Gatherv and MPI_Scatterv over several nodes: one message between the root and each other
/// node. The root knows all sizes, a speaker asks its local peers for theirs. Layer: mpi.
/// docs/design/collectives.md

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "mpi/coll/among.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/execution.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/late.hpp"

namespace starling::mpi::coll {
namespace {

/// A speaker's memory: sizes of its local peers' blocks, and those that travel together. Lives with the
/// schedule.
struct Carried {
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint32_t> steps;  // of local peers
  std::uint32_t outside = 0;         // the step with which all of it leaves or comes
  std::vector<std::byte> bytes;
  int me = 0;
  std::byte* mine = nullptr;  // where the own block is

  void settle(Schedule& schedule) {
    std::uint64_t total = 0;
    for (const std::uint64_t size : sizes) total += size;
    bool memory = true;
    try {
      bytes.resize(total);
    } catch (const std::bad_alloc&) {
      memory = false;
    }
    std::byte* at = memory ? bytes.data() : nullptr;
    for (std::size_t local_peer = 0; local_peer < sizes.size(); ++local_peer) {
      if (static_cast<int>(local_peer) == me) {
        mine = at;
      } else {
        schedule.settle(steps[local_peer], packed(at, sizes[local_peer]));
      }
      if (memory) at += sizes[local_peer];
    }
    schedule.settle(outside, packed(memory ? bytes.data() : nullptr, total));
    if (!memory) throw std::bad_alloc();
  }
};

/// The sizes of the local peers' blocks, of which the own one is `size`, at the speaker; they do not change
/// between starts.
std::shared_ptr<Carried> learn(Schedule& schedule, const Levels& levels, std::uint64_t size) {
  const Among local_peers(schedule, levels.local_peers);
  if (!levels.speaks()) {
    schedule.length() = size;
    schedule.send_lengths(levels.head, packed(&schedule.length(), sizeof size));
    return nullptr;
  }
  auto carried = std::make_shared<Carried>();
  carried->sizes.resize(levels.local_peers.size());
  carried->sizes[static_cast<std::size_t>(levels.head)] = size;
  carried->me = levels.head;
  for (int local_peer = 0; local_peer < levels.local.size; ++local_peer) {
    if (local_peer != levels.head)
      schedule.receive_lengths(local_peer,
                               packed(&carried->sizes[static_cast<std::size_t>(local_peer)], sizeof size));
  }
  schedule.next_round();
  schedule.work([carried](Schedule& all) { carried->settle(all); }, true);
  return carried;
}

/// At the root: the blocks of each other node, packed.
struct FromRoot {
  FromRoot(Schedule& schedule, const Hierarchy& hierarchy, int own_node, const Blocks& blocks)
      : limit(hierarchy) {
    for (int node = 0; node < hierarchy.nodes(); ++node) {
      std::uint64_t bytes = 0;
      for (const int rank : hierarchy.members(node)) {
        if (node != own_node) bytes += limit.part(blocks.bytes(rank));
      }
      nodes.push_back(packed(schedule.scratch(bytes), bytes));
    }
  }
  /// Calls each(rank, its place in a node's message) for blocks that travel with others.
  template <class Each>
  void each(const Hierarchy& hierarchy, const Blocks& blocks, Each&& each) const {
    for (int node = 0; node < hierarchy.nodes(); ++node) {
      const Buffer& all = nodes[static_cast<std::size_t>(node)];
      auto* at = static_cast<std::byte*>(all.base);
      if (all.bytes == 0) continue;
      for (const int rank : hierarchy.members(node)) {
        const std::uint64_t bytes = limit.part(blocks.bytes(rank));
        if (bytes != 0) each(rank, packed(at, bytes));
        at += bytes;
      }
    }
  }
  Together limit;
  std::vector<Buffer> nodes;
};

/// Whether a block goes straight between the root and its owner.
bool alone(const Hierarchy& hierarchy, int root, int rank, std::uint64_t bytes) noexcept {
  if (rank == root || bytes == 0) return false;
  return Together(hierarchy).alone(bytes) || hierarchy.node_of(rank) == hierarchy.node_of(root);
}

}  // namespace

void gatherv_nodes(Schedule& schedule, const Team& team, const Gather& asked) {
  const Hierarchy& hierarchy = *team.hierarchy;
  const Levels levels(hierarchy, team.rank, asked.root);
  schedule.among({});
  if (team.rank == asked.root) {
    const FromRoot packed_nodes(schedule, hierarchy, levels.root_node, asked.receive);
    for (int rank = 0; rank < team.size; ++rank) {
      if (alone(hierarchy, asked.root, rank, asked.receive.bytes(rank)))
        schedule.receive(rank, asked.receive.block(rank));
    }
    for (int node = 0; node < hierarchy.nodes(); ++node) {
      const Buffer& all = packed_nodes.nodes[static_cast<std::size_t>(node)];
      if (all.bytes != 0) schedule.receive(hierarchy.speaker(node), all);
    }
    if (!asked.in_place)
      schedule.copy(region(asked.send, asked.count, asked.type), asked.receive.block(team.rank));
    schedule.next_round();
    packed_nodes.each(hierarchy, asked.receive, [&](int rank, const Buffer& from) {
      schedule.copy_always(from, asked.receive.block(rank));
    });
    return schedule.next_round();
  }
  const Buffer own = region(asked.send, asked.count, asked.type);
  const bool by_itself = alone(hierarchy, asked.root, team.rank, own.bytes);
  if (levels.across.rank == levels.root_node) {
    if (by_itself) schedule.send(asked.root, own);
    return schedule.next_round();
  }
  const std::shared_ptr<Carried> carried = learn(schedule, levels, Together(hierarchy).part(own.bytes));
  const bool together = own.bytes != 0 && !by_itself;
  if (by_itself) schedule.send(asked.root, own);
  if (carried == nullptr) {
    if (together) schedule.send(hierarchy.speaker(levels.across.rank), own);
    return schedule.next_round();
  }
  for (const int local_peer : levels.local_peers)
    carried->steps.push_back(local_peer == team.rank ? 0 : schedule.receive_late(local_peer));
  schedule.next_round();
  if (together)
    schedule.work([carried, own](Schedule&) { copy_buffer(own, packed(carried->mine, own.bytes)); });
  schedule.next_round();
  carried->outside = schedule.send_late(asked.root);
  schedule.next_round();
}

void scatterv_nodes(Schedule& schedule, const Team& team, const Scatter& asked) {
  const Hierarchy& hierarchy = *team.hierarchy;
  const Levels levels(hierarchy, team.rank, asked.root);
  const Buffer own = region(asked.receive, asked.count, asked.type);
  schedule.among({});
  if (team.rank == asked.root) {
    const FromRoot packed_nodes(schedule, hierarchy, levels.root_node, asked.send);
    packed_nodes.each(hierarchy, asked.send,
                      [&](int rank, const Buffer& to) { schedule.copy(asked.send.block(rank), to); });
    schedule.next_round();
    for (int node = 0; node < hierarchy.nodes(); ++node) {
      const Buffer& all = packed_nodes.nodes[static_cast<std::size_t>(node)];
      if (all.bytes != 0) schedule.send(hierarchy.speaker(node), all);
    }
    for (int rank = 0; rank < team.size; ++rank) {
      if (alone(hierarchy, asked.root, rank, asked.send.bytes(rank)))
        schedule.send(rank, asked.send.block(rank));
    }
    if (!asked.in_place) schedule.copy(asked.send.block(team.rank), own);
    return schedule.next_round();
  }
  const bool by_itself = alone(hierarchy, asked.root, team.rank, own.bytes);
  if (levels.across.rank == levels.root_node) {
    if (by_itself) schedule.receive(asked.root, own);
    return schedule.next_round();
  }
  const std::shared_ptr<Carried> carried = learn(schedule, levels, Together(hierarchy).part(own.bytes));
  const bool together = own.bytes != 0 && !by_itself;
  if (carried == nullptr) {
    if (together) schedule.receive(hierarchy.speaker(levels.across.rank), own);
    if (by_itself) schedule.receive(asked.root, own);
    return schedule.next_round();
  }
  carried->outside = schedule.receive_late(asked.root);
  if (by_itself) schedule.receive(asked.root, own);
  schedule.next_round();
  for (const int local_peer : levels.local_peers)
    carried->steps.push_back(local_peer == team.rank ? 0 : schedule.send_late(local_peer));
  if (together)
    schedule.work([carried, own](Schedule&) { copy_buffer(packed(carried->mine, own.bytes), own); });
  schedule.next_round();
}

}  // namespace starling::mpi::coll

// SPDX-License-Identifier: BSD-3-Clause
// Boards inside nodes, schedules among their speakers. What is hard: who learns of a loss or a disagreement
// has to take part to the end, or tell those who wait for it. Layer: mpi. docs/design/collectives.md

#include "mpi/launch/several_nodes.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/pieces.hpp"
#include "mpi/coll/nodes.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/several_nodes_call.hpp"

namespace starling::mpi::coll::several_nodes {
namespace {

/// Cells of this size carry the buffer of a bcast, one after the other.
constexpr std::uint64_t kPiece = 16384;

bool chosen(const Form& form, Comm& comm, Collective which, std::uint64_t bytes, bool commutative) {
  if (form.kind != Form::Kind::blocking) return false;
  const Team team = team_of(comm);
  return by_nodes(team, tuning(), which, {team.size, bytes, commutative});
}

bool reduces_by_nodes(const Form& form, Comm& comm, Collective which, const Reduce& asked) {
  return node::dense(asked.type) &&
         chosen(form, comm, which, asked.count * asked.type.size, asked.operation.commutative);
}

/// For a vector that the operation is applied to where it stands in a cell; a cell takes at least
/// `least_elements` of it.
NodeTeam::LocalPeers local_peers_for(const Form& form, Comm& comm, const Reduce& asked,
                                     std::uint64_t least_elements = 1) {
  const std::uint64_t bytes = asked.count * asked.type.size;
  return NodeTeam::local_peers(form.function, comm, bytes, bytes, least_elements * asked.type.size);
}

using Bytes = std::unique_ptr<std::byte[]>;

/// Memory for `elements` of the vector, in `owner`. Where there is none the call goes on, and the program's
/// buffer stands for it, which is not touched then.
void* memory_for(Call& call, const Reduce& asked, std::uint64_t elements, Bytes& owner) {
  owner.reset(new (std::nothrow) std::byte[elements * asked.type.size]);
  if (owner != nullptr) [[likely]]
    return owner.get();
  call.without_memory();
  return const_cast<void*>(asked.in_place ? asked.receive : asked.send);
}

/// Members of this process's node.
std::uint64_t local_peers_of(const Comm& comm) {
  const Hierarchy& hierarchy = *comm.hierarchy;
  return hierarchy.members(hierarchy.node_of(static_cast<int>(comm.rank()))).size();
}

}  // namespace

std::optional<int> barrier(const Form& form, Comm& comm) {
  if (form.kind != Form::Kind::blocking || team_of(comm).hierarchy == nullptr) return std::nullopt;
  const NodeTeam::LocalPeers local_peers = NodeTeam::local_peers(form.function, comm, 0, 0, 0);
  if (local_peers.board == nullptr) return std::nullopt;
  Call call(comm, local_peers, form.function);
  const auto head = static_cast<std::uint32_t>(call.levels.head);
  call.inside([head](node::Board& board) { return node::arrive(board, head); });
  call.across([](Schedule& schedule, const Team& speakers) { barrier_dissemination(schedule, speakers); });
  call.inside([head](node::Board& board) { return node::leave(board, head); });
  return call.result();
}

std::optional<int> bcast(const Form& form, Comm& comm, const Bcast& asked) {
  const std::uint64_t bytes = asked.count * asked.type.size;
  if (!chosen(form, comm, Collective::bcast, bytes, true)) return std::nullopt;
  const NodeTeam::LocalPeers local_peers =
      NodeTeam::local_peers(form.function, comm, bytes, std::min(bytes, kPiece), 1);
  if (local_peers.board == nullptr) return std::nullopt;
  Call call(comm, local_peers, form.function, asked.root);
  call.across([&](Schedule& schedule, const Team& speakers) {
    Bcast part = asked;
    part.root = call.levels.root_node;
    coll::bcast(schedule, speakers, {}, part);
  });
  call.down(asked);
  return call.result();
}

std::optional<int> reduce(const Form& form, Comm& comm, const Reduce& asked) {
  if (!reduces_by_nodes(form, comm, Collective::reduce, asked)) return std::nullopt;
  const NodeTeam::LocalPeers local_peers = local_peers_for(form, comm, asked);
  if (local_peers.board == nullptr) return std::nullopt;
  Call call(comm, local_peers, form.function, asked.root);
  const bool root = static_cast<int>(comm.rank()) == asked.root;
  void* result = asked.receive;
  Bytes scratch;  // dense types only: no gaps
  if (!root) result = call.levels.speaks() ? memory_for(call, asked, asked.count, scratch) : nullptr;
  const Reduce part = reduction_in_node(call.levels, asked, asked.in_place && root, result);
  call.inside([&](node::Board& board) {
    return call.levels.speaks() && call.worthless() ? node::reduce_nothing(board, part)
                                                    : node::reduce(board, part);
  });
  call.across([&](Schedule& schedule, const Team& speakers) {
    coll::reduce(schedule, speakers, {}, reduction_across(call.levels, asked, result));
  });
  return call.result();
}

namespace {

/// Several members of each node with a part each (mpi/coll/nodes_parts.cpp).
int allreduce_parts(const char* function, Comm& comm, const Reduce& asked,
                    const NodeTeam::LocalPeers& local_peers) {
  const NodeParts parts(*comm.hierarchy, static_cast<int>(comm.rank()), asked.count);
  Call call(comm, local_peers, function);
  const Reduce own = parts.of(asked);
  ReduceScatter
      inside;  // in place nothing is overwritten that is still to be read: docs of node::reduce_scatter
  inside.send = asked.in_place ? asked.receive : asked.send;
  inside.receive = own.receive;
  inside.counts = Ints{nullptr, parts.counts.data()};
  inside.type = asked.type;
  inside.operation = asked.operation;
  call.inside([&](node::Board& board) { return node::reduce_scatter(board, inside); });
  if (!parts.lane.empty()) {
    call.outside([&](Schedule& schedule) {
      schedule.among(parts.lane);
      coll::allreduce(schedule, parts.levels.across, {}, own);
      schedule.next_round();
      schedule.among({});
    });
  }
  const bool nothing = call.worthless();
  const Gather all = parts.gathering(asked);
  call.inside([&](node::Board& board) { return node::allgather(board, all, nothing); });
  return call.result();
}

}  // namespace

std::optional<int> allreduce(const Form& form, Comm& comm, const Reduce& asked) {
  if (!reduces_by_nodes(form, comm, Collective::allreduce, asked)) return std::nullopt;
  const Team team = team_of(comm);
  const Facts facts{team.size, asked.count * asked.type.size, asked.operation.commutative};
  const bool in_parts = by_parts(team, tuning(), facts);
  // Parts: a cell has an element for each member.
  const NodeTeam::LocalPeers local_peers =
      local_peers_for(form, comm, asked, in_parts ? local_peers_of(comm) : 1);
  if (local_peers.board == nullptr) return std::nullopt;
  if (in_parts) return allreduce_parts(form.function, comm, asked, local_peers);
  Call call(comm, local_peers, form.function);
  const Reduce part = reduction_in_node(call.levels, asked, asked.in_place, asked.receive);
  call.inside([&](node::Board& board) { return node::reduce(board, part); });
  call.across([&](Schedule& schedule, const Team& speakers) {
    coll::allreduce(schedule, speakers, {}, allreduction_across(asked));
  });
  call.down(Bcast{asked.receive, asked.count, asked.type, 0});
  return call.result();
}

std::optional<int> allgather(const Form& form, Comm& comm, const Gather& asked) {
  if (!asked.receive.uniform()) return std::nullopt;
  const std::uint64_t block = asked.receive.bytes(0), total = block * comm.size();
  if (!chosen(form, comm, Collective::allgather, total, true) || !comm.hierarchy->ordered())
    return std::nullopt;
  const NodeTeam::LocalPeers local_peers =
      NodeTeam::local_peers(form.function, comm, total, std::min(total, kPiece), 1);
  if (local_peers.board == nullptr) return std::nullopt;
  Call call(comm, local_peers, form.function);
  const Type& type = asked.receive.type(0);
  const std::uint64_t count = asked.receive.count(0);
  Gather part = asked;
  part.receive = Blocks(asked.receive.address(call.levels.local_peers.front()), count, type);
  part.root = call.levels.head;
  part.in_place = asked.in_place && call.levels.speaks();
  if (asked.in_place && !part.in_place) {
    part.send = asked.receive.address(static_cast<int>(comm.rank()));
    part.count = count;
    part.type = type;
  }
  call.inside([&](node::Board& board) { return node::gather(board, part); });
  call.across([&](Schedule& schedule, const Team& speakers) {
    std::vector<std::int64_t> counts, places;
    for (int node = 0; node < speakers.size; ++node) {
      const std::vector<int>& members = comm.hierarchy->members(node);
      counts.push_back(static_cast<std::int64_t>(count * members.size()));
      places.push_back(static_cast<std::int64_t>(count) * members.front());
    }
    const bool equal = std::count(counts.begin(), counts.end(), counts.front()) == speakers.size;
    Gather nodes;
    nodes.receive = equal ? Blocks(asked.receive.address(0), static_cast<std::uint64_t>(counts.front()), type)
                          : Blocks(asked.receive.address(0), Ints{nullptr, counts.data()},
                                   Ints{nullptr, places.data()}, type);
    nodes.in_place = true;
    coll::allgather(schedule, speakers, {}, nodes);
  });
  call.down(Bcast{asked.receive.address(0), count * comm.size(), type, 0});
  return call.result();
}

std::optional<int> reduce_scatter(const Form& form, Comm& comm, const ReduceScatter& asked) {
  if (asked.counts) return std::nullopt;
  Reduce whole = asked.whole(nullptr, asked.count * comm.size());
  if (!reduces_by_nodes(form, comm, Collective::reduce_scatter, whole) || !comm.hierarchy->ordered())
    return std::nullopt;
  // A cell takes an element of the vector, and then a piece of the result of each member.
  const NodeTeam::LocalPeers local_peers =
      NodeTeam::local_peers(form.function, comm, whole.count * whole.type.size,
                            node::cell_for_shares(whole.count * whole.type.size, local_peers_of(comm)),
                            std::max(whole.type.size, node::cell_for_shares(1, local_peers_of(comm))));
  if (local_peers.board == nullptr) return std::nullopt;
  Call call(comm, local_peers, form.function);
  const Levels& levels = call.levels;
  Bytes of_vector, of_parts;  // dense types only: no gaps
  void *vector = nullptr, *parts = nullptr;
  if (levels.speaks()) {
    vector = memory_for(call, whole, whole.count, of_vector);
    parts = memory_for(call, whole, asked.count * levels.local_peers.size(), of_parts);
  }
  whole.receive = vector;
  whole.root = levels.head;
  call.inside([&](node::Board& board) {
    return levels.speaks() && call.worthless() ? node::reduce_nothing(board, whole)
                                               : node::reduce(board, whole);
  });
  call.across([&](Schedule& schedule, const Team& speakers) {
    std::vector<std::int64_t> counts;
    for (int node = 0; node < speakers.size; ++node)
      counts.push_back(static_cast<std::int64_t>(asked.count * comm.hierarchy->members(node).size()));
    ReduceScatter part = asked;
    part.send = vector;
    part.receive = parts;
    part.counts = Ints{nullptr, counts.data()};
    part.in_place = false;
    coll::reduce_scatter(schedule, speakers, {}, part);
  });
  Scatter down;
  down.send = Blocks(parts, asked.count, asked.type);
  down.receive = asked.receive;
  down.count = asked.count;
  down.type = asked.type;
  down.root = levels.head;
  const bool nothing = levels.speaks() && call.worthless();
  call.inside(
      [&](node::Board& board) { return nothing ? node::bcast_nothing(board) : node::scatter(board, down); });
  return call.result();
}

namespace {

/// Prefixes inside nodes, then of nodes: `inclusive` or not.
std::optional<int> prefixes(const Form& form, Comm& comm, const Reduce& asked, bool inclusive) {
  const std::uint64_t bytes = asked.count * asked.type.size;
  if (form.kind != Form::Kind::blocking || bytes == 0 || bytes > node::kMostScanned ||
      !node::dense(asked.type))
    return std::nullopt;
  if (!prefix_by_nodes(team_of(comm))) return std::nullopt;
  const NodeTeam::LocalPeers local_peers =
      NodeTeam::local_peers(form.function, comm, bytes, bytes, asked.type.size);
  if (local_peers.board == nullptr) return std::nullopt;
  const int rank = static_cast<int>(comm.rank());
  Call call(comm, local_peers, form.function, Levels::of_last(*comm.hierarchy, rank));
  const Levels& levels = call.levels;
  const bool first_node = levels.across.rank == 0, first = levels.local.rank == 0;
  // What the node amounts to, and all before it; on the stack, because who has no memory would have to tell.
  alignas(64) std::byte total[node::kMostScanned], below[node::kMostScanned];
  const bool totals = !inclusive && levels.speaks();
  if (totals) std::memcpy(total, asked.in_place ? asked.receive : asked.send, bytes);
  call.inside(
      [&](node::Board& board) { return inclusive ? node::scan(board, asked) : node::exscan(board, asked); });
  const bool sound = call.result() == MPI_SUCCESS;
  if (totals && !first && sound)
    asked.operation.apply(asked.operation, asked.receive, total, total, asked.count, asked.type);
  call.across([&](Schedule& schedule, const Team& lasts) {
    Reduce part = asked;
    part.send = inclusive ? asked.receive : total;
    part.receive = below;
    part.in_place = false;
    coll::exscan(schedule, lasts, part);
  });
  if (first_node) return call.result();
  call.down(Bcast{below, asked.count, asked.type, 0});
  if (call.result() != MPI_SUCCESS) return call.result();
  if (first && !inclusive) {
    std::memcpy(asked.receive, below, bytes);
  } else {
    asked.operation.apply(asked.operation, below, asked.receive, asked.receive, asked.count, asked.type);
  }
  return call.result();
}

}  // namespace

std::optional<int> scan(const Form& form, Comm& comm, const Reduce& asked) {
  return prefixes(form, comm, asked, true);
}
std::optional<int> exscan(const Form& form, Comm& comm, const Reduce& asked) {
  return prefixes(form, comm, asked, false);
}

}  // namespace starling::mpi::coll::several_nodes

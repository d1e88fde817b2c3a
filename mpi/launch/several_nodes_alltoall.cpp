// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall over several nodes: agents read what their local peers have for other nodes on the board, and
// show there what has come. What is hard: the messages between agents are those of
// mpi/coll/nodes_alltoall.cpp, since a node without a board does not go this way. Layer: mpi.
// docs/design/collectives.md

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "mpi/coll/execution.hpp"
#include "mpi/coll/node_exchanges.hpp"
#include "mpi/launch/several_nodes.hpp"
#include "mpi/launch/several_nodes_call.hpp"

namespace starling::mpi::coll::several_nodes {
namespace {

std::size_t nth(int i) noexcept { return static_cast<std::size_t>(i); }

/// One process's part. A cell of the first round: a block for each rank, in their order; of the second, at an
/// agent: for each local peer a block of each rank of its exchanges between nodes.
class Exchange {
 public:
  Exchange(const Levels& levels, const Hierarchy& hierarchy, const Alltoall& asked)
      : levels_(levels), hierarchy_(hierarchy), asked_(asked), block_(asked.receive.bytes(0)) {
    for (int agent = 0; agent < agents_of(hierarchy, levels.across.rank); ++agent)
      node_exchanges_.emplace_back(hierarchy, levels.across.rank, agent);
    if (!agent()) return;
    const std::size_t carried = own_node_exchanges().ranks.size() * levels.local_peers.size() * block_;
    out_.reset(new (std::nothrow) std::byte[carried]);
    in_.reset(new (std::nothrow) std::byte[carried]);
  }
  /// Whether there was memory for what an agent carries.
  [[nodiscard]] bool ready() const noexcept { return !agent() || (out_ != nullptr && in_ != nullptr); }
  /// Bytes of the longer one of the two cells.
  [[nodiscard]] static std::uint64_t cell_bytes(const Levels& levels, const Hierarchy& hierarchy, int ranks,
                                                std::uint64_t block) {
    std::size_t most = static_cast<std::size_t>(ranks);
    for (int agent = 0; agent < agents_of(hierarchy, levels.across.rank); ++agent)
      most = std::max(
          most, NodeExchanges(hierarchy, levels.across.rank, agent).ranks.size() * levels.local_peers.size());
    return most * block;
  }

  [[nodiscard]] bool agent() const noexcept { return nth(levels_.local.rank) < node_exchanges_.size(); }
  /// All show what they have; blocks of local peers are taken, agents collect those for their nodes.
  [[nodiscard]] bool collect(node::Board& board, int ranks) {
    board.agree(node::CallSignature(asked_.send.bytes(0)), node::CallSignature(block_));
    board.begin();
    std::byte* const cell = board.cell();
    if (cell == nullptr) return false;
    const int me = levels_.local_peers[nth(levels_.local.rank)];
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank != me) copy_buffer(asked_.send.block(rank), packed(cell + nth(rank) * block_, block_));
    }
    board.post();
    for (std::size_t local_peer = 0; local_peer < levels_.local_peers.size(); ++local_peer) {
      const bool own = static_cast<int>(local_peer) == levels_.local.rank;
      const std::byte* const theirs = own ? cell : board.read(static_cast<std::uint32_t>(local_peer));
      if (theirs == nullptr) return false;
      if (!own)
        copy_buffer(packed_block(theirs + nth(me) * block_),
                    asked_.receive.block(levels_.local_peers[local_peer]));
      if (agent() && ready()) take_for_nodes(theirs, local_peer);
    }
    const Buffer from = asked_.send.block(me), to = asked_.receive.block(me);
    if (from.bytes != to.bytes) [[unlikely]]
      board.differ(board.me(), node::CallSignature(from.bytes), node::CallSignature(to.bytes));
    copy_buffer(from, to);
    board.all_have_begun();
    board.finish();
    return true;
  }
  /// One message to and from each node, as they lie in `out_` and `in_`.
  void exchange(Schedule& schedule) {
    const NodeExchanges& node_exchanges = own_node_exchanges();
    const int here = levels_.across.rank;
    const std::uint64_t of_rank = levels_.local_peers.size() * block_;
    schedule.among({});
    const auto each = [&](auto&& add, std::byte* bytes) {
      if (!ready()) bytes = nullptr;
      for (std::size_t node = 0; node < node_exchanges.nodes.size(); ++node) {
        const int there = node_exchanges.nodes[node];
        add(hierarchy_.members(there)[nth(agent_for(hierarchy_, there, here))],
            packed(bytes == nullptr ? nullptr : bytes + node_exchanges.begin(node) * of_rank,
                   (node_exchanges.ends[node] - node_exchanges.begin(node)) * of_rank));
      }
    };
    each([&](int rank, const Buffer& where) { schedule.receive(rank, where); }, in_.get());
    each([&](int rank, const Buffer& what) { schedule.send(rank, what); }, out_.get());
    schedule.next_round();
  }
  /// Agents show what has come, and all take what is theirs. `nothing`: this one has heard of a disagreement.
  [[nodiscard]] bool hand_out(node::Board& board, bool nothing) {
    board.agree(nothing ? node::CallSignature::disagreement() : node::CallSignature(block_),
                node::CallSignature(block_));
    board.begin();
    std::byte* cell = nullptr;
    if (agent()) {
      cell = board.cell();
      if (cell == nullptr) return false;
      if (!nothing) sort_by_local_peer(cell);
      board.post();
    }
    for (std::size_t other = 0; other < node_exchanges_.size(); ++other) {
      const bool own = static_cast<int>(other) == levels_.local.rank;
      const std::byte* from = own ? cell : board.read(static_cast<std::uint32_t>(other));
      if (from == nullptr) return false;
      const std::vector<int>& ranks = node_exchanges_[other].ranks;
      from += nth(levels_.local.rank) * ranks.size() * block_;
      for (std::size_t i = 0; i < ranks.size() && board.equal() && !nothing; ++i)
        copy_buffer(packed_block(from + i * block_), asked_.receive.block(ranks[i]));
    }
    board.finish();
    return true;
  }

 private:
  [[nodiscard]] const NodeExchanges& own_node_exchanges() const noexcept {
    return node_exchanges_[nth(levels_.local.rank)];
  }
  [[nodiscard]] Buffer packed_block(const std::byte* at) const noexcept {
    return packed(const_cast<std::byte*>(at), block_);
  }
  /// Node by node, in each local peer by local peer, rank by rank there.
  void take_for_nodes(const std::byte* cell, std::size_t local_peer) noexcept {
    const NodeExchanges& node_exchanges = own_node_exchanges();
    for (std::size_t node = 0; node < node_exchanges.nodes.size(); ++node) {
      const std::size_t begin = node_exchanges.begin(node), count = node_exchanges.ends[node] - begin;
      std::byte* to = out_.get() + (begin * levels_.local_peers.size() + local_peer * count) * block_;
      for (std::size_t i = begin; i < node_exchanges.ends[node]; ++i, to += block_)
        std::memcpy(to, cell + nth(node_exchanges.ranks[i]) * block_, block_);
    }
  }
  /// What has come is rank by rank there, in each local peer by local peer.
  void sort_by_local_peer(std::byte* cell) const noexcept {
    const std::size_t ranks = own_node_exchanges().ranks.size();
    const std::byte* from = in_.get();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t local_peer = 0; local_peer < levels_.local_peers.size(); ++local_peer, from += block_)
        std::memcpy(cell + (local_peer * ranks + rank) * block_, from, block_);
    }
  }

  const Levels& levels_;
  const Hierarchy& hierarchy_;
  const Alltoall& asked_;
  const std::uint64_t block_;
  std::vector<NodeExchanges> node_exchanges_;  // of agents
  std::unique_ptr<std::byte[]> out_, in_;
};

}  // namespace

std::optional<int> alltoall(const Form& form, Comm& comm, const Alltoall& asked) {
  if (form.kind != Form::Kind::blocking || asked.in_place || !asked.receive.uniform()) return std::nullopt;
  const Team team = team_of(comm);
  const std::uint64_t block = asked.receive.bytes(0);
  if (!by_nodes(team, tuning(), Collective::alltoall, {team.size, block, false})) return std::nullopt;
  const Levels levels(*team.hierarchy, team.rank);
  const std::uint64_t cell = Exchange::cell_bytes(levels, *team.hierarchy, team.size, block);
  const NodeTeam::LocalPeers local_peers = NodeTeam::local_peers(form.function, comm, block, cell, cell);
  if (local_peers.board == nullptr) return std::nullopt;
  Call call(comm, local_peers, form.function);
  Exchange exchange(call.levels, *team.hierarchy, asked);
  if (!exchange.ready()) call.without_memory();
  call.inside([&](node::Board& board) { return exchange.collect(board, team.size); });
  if (exchange.agent()) call.outside([&](Schedule& schedule) { exchange.exchange(schedule); });
  const bool nothing = call.worthless();
  call.inside([&](node::Board& board) { return exchange.hand_out(board, nothing); });
  return call.result();
}

}  // namespace starling::mpi::coll::several_nodes

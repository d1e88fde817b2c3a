// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Alltoall(v, w) over several nodes: one message from each node to each other one. Layer: mpi.
/// docs/design/collectives.md
///
/// For each other node one member of the own node is its agent: it collects what its local peers have for
/// that node, exchanges with the agent there, and hands out what has come. So the agents of a node share its
/// messages. What is hard: in the v and w forms an agent learns from its local peers how long everything is,
/// while the schedule runs. A process without memory has all its messages, empty ones, so that nobody waits
/// for it; without memory even for sizes that it has to tell it sends notices.

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "mpi/coll/among.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/execution.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/late.hpp"
#include "mpi/coll/node_exchanges.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

constexpr int kLongAtOnce = 32;  // as in alltoall.cpp

std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }

/// What a process has for the exchanges between nodes of one agent, and what it gets from them: packed, rank
/// by rank.
struct Share {
  /// Of what it sends to each rank, then of what it receives from each; null where all blocks have one size.
  std::uint64_t* sizes = nullptr;
  std::byte *out = nullptr, *in = nullptr;
  std::uint64_t out_bytes = 0, in_bytes = 0;
};

/// The work of an agent. Lives with the schedule.
class Agent {
 public:
  /// `sizes`: memory for those of all local peers' shares, if they are to be asked.
  Agent(NodeExchanges node_exchanges, int local_peers, int me, Share own, std::uint64_t* sizes)
      : node_exchanges_(std::move(node_exchanges)),
        local_peers_(index(local_peers)),
        me_(index(me)),
        own_(own),
        sizes_(sizes) {
    for (std::size_t local_peer = 0; local_peer < local_peers_; ++local_peer) {
      from_local_peers_.push_back({});
      to_local_peers_.push_back({});
    }
  }

  /// Where the sizes of a local peer's share go.
  [[nodiscard]] Buffer table(int local_peer) noexcept {
    const std::size_t numbers = 2 * node_exchanges_.ranks.size();
    return packed(sizes_ == nullptr ? nullptr : sizes_ + index(local_peer) * numbers,
                  numbers * sizeof(std::uint64_t));
  }
  std::vector<std::uint32_t> collect, hand_out, send,
      receive;  ///< steps: of local peers, of local peers, of nodes twice

  /// Sizes are known: lengths of all messages follow.
  void settle(Schedule& schedule) {
    std::uint64_t collected = 0, handed = 0;
    for (std::size_t local_peer = 0; local_peer < local_peers_; ++local_peer) {
      from_local_peers_[local_peer] = {collected, sum(local_peer, 0)};
      to_local_peers_[local_peer] = {handed, sum(local_peer, node_exchanges_.ranks.size())};
      collected += from_local_peers_[local_peer].bytes;
      handed += to_local_peers_[local_peer].bytes;
    }
    lay_out(to_nodes_, 0);
    lay_out(from_nodes_, node_exchanges_.ranks.size());
    collected_ = room(schedule, 0, collected);
    // With one node the local peers' shares in their order are the message.
    sent_ = node_exchanges_.nodes.size() > 1 ? room(schedule, 1, collected) : collected_;
    received_ = room(schedule, 2, handed);
    handed_ = room(schedule, 3, handed);
    for (std::size_t local_peer = 0; local_peer < local_peers_; ++local_peer) {
      if (local_peer == me_) continue;
      schedule.settle(collect[local_peer], message(collected_, from_local_peers_[local_peer]));
      schedule.settle(hand_out[local_peer], message(handed_, to_local_peers_[local_peer]));
    }
    for (std::size_t node = 0; node < node_exchanges_.nodes.size(); ++node) {
      schedule.settle(send[node], message(sent_, to_nodes_[node]));
      schedule.settle(receive[node], message(received_, from_nodes_[node]));
    }
    if (std::exchange(short_, false)) throw std::bad_alloc();
  }
  /// The local peers' shares have come: messages to nodes, local peer by local peer.
  void join() {
    copy(own_.out, collected_ + from_local_peers_[me_].at, own_.out_bytes);
    if (node_exchanges_.nodes.size() == 1) return;
    const std::byte* from = collected_;
    std::vector<Part> at = to_nodes_;
    for (std::size_t local_peer = 0; local_peer < local_peers_; ++local_peer) {
      for (std::size_t node = 0; node < node_exchanges_.nodes.size(); ++node) {
        const std::uint64_t bytes = of_node(local_peer, node, 0);
        copy(from, sent_ + at[node].at, bytes);
        from += bytes;
        at[node].at += bytes;
      }
    }
  }
  /// Messages of nodes have come, rank by rank there, for each of them local peer by local peer: to each
  /// local peer its part.
  void divide() {
    std::vector<std::uint64_t> at;
    for (const Part& part : to_local_peers_) at.push_back(part.at);
    for (std::size_t node = 0; node < node_exchanges_.nodes.size(); ++node) {
      const std::byte* from = received_ + from_nodes_[node].at;
      for (std::size_t rank = node_exchanges_.begin(node); rank < node_exchanges_.ends[node]; ++rank) {
        for (std::size_t local_peer = 0; local_peer < local_peers_; ++local_peer) {
          const std::uint64_t bytes = size(local_peer, node_exchanges_.ranks.size() + rank);
          copy(from, handed_ + at[local_peer], bytes);
          from += bytes;
          at[local_peer] += bytes;
        }
      }
    }
    copy(handed_ + to_local_peers_[me_].at, own_.in, own_.in_bytes);
  }

 private:
  struct Part {
    std::uint64_t at = 0, bytes = 0;
  };
  static void copy(const std::byte* from, std::byte* to, std::uint64_t bytes) noexcept {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  static Buffer message(std::byte* base, const Part& part) noexcept {
    return packed(base == nullptr ? nullptr : base + part.at, part.bytes);
  }
  /// Where sizes are known when the schedule is made, the memory is the schedule's. Null: there is none.
  [[nodiscard]] std::byte* room(Schedule& schedule, std::size_t which, std::uint64_t bytes) {
    if (alike()) return schedule.scratch(bytes);
    try {
      memory_[which].resize(bytes);
    } catch (const std::bad_alloc&) {
      short_ = true;
      return nullptr;
    }
    return memory_[which].data();
  }
  [[nodiscard]] bool alike() const noexcept { return sizes_ == nullptr; }
  [[nodiscard]] std::uint64_t size(std::size_t local_peer, std::size_t number) const noexcept {
    if (alike())
      return (number < node_exchanges_.ranks.size() ? own_.out_bytes : own_.in_bytes) /
             node_exchanges_.ranks.size();
    return sizes_[local_peer * 2 * node_exchanges_.ranks.size() + number];
  }
  [[nodiscard]] std::uint64_t sum(std::size_t local_peer, std::size_t first) const noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < node_exchanges_.ranks.size(); ++i) bytes += size(local_peer, first + i);
    return bytes;
  }
  [[nodiscard]] std::uint64_t of_node(std::size_t local_peer, std::size_t node,
                                      std::size_t first) const noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t i = node_exchanges_.begin(node); i < node_exchanges_.ends[node]; ++i)
      bytes += size(local_peer, first + i);
    return bytes;
  }
  void lay_out(std::vector<Part>& nodes, std::size_t first) const {
    nodes.clear();
    std::uint64_t at = 0;
    for (std::size_t node = 0; node < node_exchanges_.nodes.size(); ++node) {
      std::uint64_t bytes = 0;
      for (std::size_t local_peer = 0; local_peer < local_peers_; ++local_peer)
        bytes += of_node(local_peer, node, first);
      nodes.push_back({at, bytes});
      at += bytes;
    }
  }

  NodeExchanges node_exchanges_;
  std::size_t local_peers_, me_;
  Share own_;
  // Of each local peer's share, in the schedule's memory; null: all have those of the own one.
  std::uint64_t* sizes_;
  std::vector<Part> from_local_peers_, to_local_peers_, to_nodes_, from_nodes_;
  std::byte *collected_ = nullptr, *sent_ = nullptr, *received_ = nullptr, *handed_ = nullptr;
  std::array<std::vector<std::byte>, 4> memory_;  // of these, unless it is the schedule's
  bool short_ = false;                            // of memory
};

/// One process's part: shares for the agents of its node, and exchanges between nodes if it is one.
class Exchange {
 public:
  Exchange(Schedule& schedule, const Team& team, const Alltoall& asked, bool known)
      : schedule_(schedule),
        team_(team),
        asked_(asked),
        hierarchy_(*team.hierarchy),
        node_(hierarchy_.node_of(team.rank)),
        local_peers_(hierarchy_.members(node_)),
        me_(hierarchy_.place_of(team.rank)),
        known_(known),
        limit_(hierarchy_) {
    for (int agent = 0; agent < agents_of(hierarchy_, node_); ++agent)
      node_exchanges_.emplace_back(hierarchy_, node_, agent);
  }
  void build() {
    schedule_.among({});  // who gives up tells the others
    const bool agent = me_ < static_cast<int>(node_exchanges_.size());
    for (const NodeExchanges& node_exchanges : node_exchanges_) shares_.push_back(measured(node_exchanges));
    std::uint64_t* const table =
        agent && !known_ ? numbers(node_exchanges_[index(me_)].ranks.size() * local_peers_.size()) : nullptr;
    share_out();
    if (agent)
      agent_ = std::make_shared<Agent>(node_exchanges_[index(me_)], size(), me_, shares_[index(me_)], table);
    learn_sizes();
    collect();
    exchange();
    hand_out();
    long_blocks();
    take();
  }

 private:
  [[nodiscard]] int size() const noexcept { return static_cast<int>(local_peers_.size()); }
  [[nodiscard]] bool here(int rank) const noexcept { return hierarchy_.node_of(rank) == node_; }
  [[nodiscard]] std::uint64_t together(std::uint64_t bytes) const noexcept {
    return known_ ? bytes : limit_.part(bytes);
  }

  [[nodiscard]] std::uint64_t bytes_to(int rank) const noexcept { return together(asked_.send.bytes(rank)); }
  [[nodiscard]] std::uint64_t bytes_from(int rank) const noexcept {
    return together(asked_.receive.bytes(rank));
  }
  /// Memory for two sizes of each of so many blocks.
  [[nodiscard]] std::uint64_t* numbers(std::size_t blocks) {
    std::byte* const memory = schedule_.scratch(2 * blocks * sizeof(std::uint64_t));
    if (memory == nullptr) schedule_.cut_short();
    return reinterpret_cast<std::uint64_t*>(memory);
  }
  /// How long what an agent carries for this process is.
  [[nodiscard]] Share measured(const NodeExchanges& node_exchanges) {
    Share share;
    const std::size_t ranks = node_exchanges.ranks.size();
    if (!known_) share.sizes = numbers(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      const std::uint64_t to = bytes_to(node_exchanges.ranks[i]), from = bytes_from(node_exchanges.ranks[i]);
      share.out_bytes += to;
      share.in_bytes += from;
      if (share.sizes == nullptr) continue;
      share.sizes[i] = to;
      share.sizes[ranks + i] = from;
    }
    return share;
  }
  /// Packs what goes to other nodes, agent by agent.
  void share_out() {
    for (std::size_t agent = 0; agent < node_exchanges_.size(); ++agent) {
      Share& share = shares_[agent];
      share.out = schedule_.scratch(share.out_bytes);
      share.in = schedule_.scratch(share.in_bytes);
      std::byte* at = share.out;
      for (const int rank : node_exchanges_[agent].ranks) {
        if (!schedule_.ok()) break;
        const std::uint64_t bytes = bytes_to(rank);
        if (bytes != 0) schedule_.copy(asked_.send.block(rank), packed(at, bytes));
        at += bytes;
      }
    }
    schedule_.next_round();
  }
  void learn_sizes() {
    if (known_) return;  // all shares are alike
    for (int local_peer = 0; local_peer < size() && agent_ != nullptr; ++local_peer) {
      const Buffer table = agent_->table(local_peer);
      if (local_peer != me_) {
        schedule_.receive_lengths(local_peers_[index(local_peer)], table);
      } else if (table.base != nullptr && shares_[index(me_)].sizes != nullptr) {
        std::memcpy(table.base, shares_[index(me_)].sizes, table.bytes);
      }
    }
    for (std::size_t agent = 0; agent < node_exchanges_.size(); ++agent) {
      if (static_cast<int>(agent) == me_) continue;
      schedule_.send_lengths(
          local_peers_[agent],
          packed(shares_[agent].sizes, 2 * node_exchanges_[agent].ranks.size() * sizeof(std::uint64_t)));
    }
    schedule_.next_round();
    if (agent_ != nullptr) schedule_.work([agent = agent_](Schedule& all) { agent->settle(all); }, true);
    schedule_.next_round();
  }
  void collect() {
    for (int local_peer = 0; local_peer < size() && agent_ != nullptr; ++local_peer)
      agent_->collect.push_back(local_peer == me_ ? 0
                                                  : schedule_.receive_late(local_peers_[index(local_peer)]));
    for (std::size_t agent = 0; agent < node_exchanges_.size(); ++agent) {
      const Share& share = shares_[agent];
      if (static_cast<int>(agent) != me_ && share.out_bytes != 0)
        schedule_.send(local_peers_[agent], packed(share.out, share.out_bytes));
    }
    schedule_.next_round();
    if (agent_ != nullptr) schedule_.work([agent = agent_](Schedule&) { agent->join(); });
    schedule_.next_round();
  }
  void exchange() {
    const auto agent_there = [&](int node) {
      return hierarchy_.members(node)[index(agent_for(hierarchy_, node, node_))];
    };
    if (agent_ != nullptr) {
      for (const int node : node_exchanges_[index(me_)].nodes)
        agent_->receive.push_back(schedule_.receive_late(agent_there(node)));
      for (const int node : node_exchanges_[index(me_)].nodes)
        agent_->send.push_back(schedule_.send_late(agent_there(node)));
    }
    schedule_.next_round();
    if (agent_ != nullptr) schedule_.work([agent = agent_](Schedule&) { agent->divide(); });
    schedule_.next_round();
  }
  /// And the blocks inside the node, which need no agent: what is wrong about one of them is known after all
  /// has been handed out.
  void hand_out() {
    for (std::size_t agent = 0; agent < node_exchanges_.size(); ++agent) {
      const Share& share = shares_[agent];
      if (static_cast<int>(agent) != me_ && share.in_bytes != 0)
        schedule_.receive(local_peers_[agent], packed(share.in, share.in_bytes));
    }
    for (int step = 1; step < size(); ++step) {
      const int from = local_peers_[index(around(me_, -step, size()))];
      if (const Buffer block = asked_.receive.block(from); block.bytes != 0) schedule_.receive(from, block);
    }
    for (int local_peer = 0; local_peer < size() && agent_ != nullptr; ++local_peer)
      agent_->hand_out.push_back(local_peer == me_ ? 0
                                                   : schedule_.send_late(local_peers_[index(local_peer)]));
    for (int step = 1; step < size(); ++step) {
      const int to = local_peers_[index(around(me_, step, size()))];
      if (const Buffer block = asked_.send.block(to); block.bytes != 0) schedule_.send_always(to, block);
    }
    if (agent_ != nullptr && known_) agent_->settle(schedule_);
    schedule_.next_round();
  }
  void long_blocks() {
    for (int step = 1; step < team_.size && !known_; ++step) {
      const int to = around(team_.rank, step, team_.size), from = around(team_.rank, -step, team_.size);
      if (!here(from) && limit_.alone(asked_.receive.bytes(from)))
        schedule_.receive(from, asked_.receive.block(from));
      if (!here(to) && limit_.alone(asked_.send.bytes(to))) schedule_.send_always(to, asked_.send.block(to));
      if (step % kLongAtOnce == 0) schedule_.next_round();
    }
    schedule_.next_round();
  }
  void take() {
    for (std::size_t agent = 0; agent < node_exchanges_.size(); ++agent) {
      const std::byte* at = shares_[agent].in;
      if (at == nullptr) continue;
      for (const int rank : node_exchanges_[agent].ranks) {
        const std::uint64_t bytes = bytes_from(rank);
        if (bytes != 0)
          schedule_.copy_always(packed(const_cast<std::byte*>(at), bytes), asked_.receive.block(rank));
        at += bytes;
      }
    }
    // Last: what is wrong about it does not concern the others.
    schedule_.copy(asked_.send.block(team_.rank), asked_.receive.block(team_.rank));
    schedule_.next_round();
  }

  Schedule& schedule_;
  const Team& team_;
  const Alltoall& asked_;
  const Hierarchy& hierarchy_;
  const int node_;
  const std::vector<int>& local_peers_;
  const int me_;      // among them
  const bool known_;  // all blocks have one size
  const Together limit_;
  std::vector<NodeExchanges> node_exchanges_;  // of agents
  std::vector<Share> shares_;                  // for agents
  std::shared_ptr<Agent> agent_;               // of this process, if it is one
};

}  // namespace

void alltoall_nodes(Schedule& schedule, const Team& team, const Alltoall& asked) {
  const bool known = asked.receive.uniform();
  if (!asked.in_place) return Exchange(schedule, team, asked, known).build();
  // All blocks are sent from a copy.
  std::vector<std::int64_t> sizes, places;
  std::int64_t total = 0;
  for (int rank = 0; rank < team.size; ++rank) {
    places.push_back(total);
    sizes.push_back(static_cast<std::int64_t>(asked.receive.bytes(rank)));
    total += sizes.back();
  }
  std::byte* const copy = schedule.scratch(static_cast<std::uint64_t>(total));
  Alltoall apart;
  apart.send = Blocks(copy, Ints{nullptr, sizes.data()}, Ints{nullptr, places.data()}, packed_type());
  apart.receive = asked.receive;
  for (int rank = 0; rank < team.size; ++rank) {
    if (rank != team.rank) schedule.copy(asked.receive.block(rank), apart.send.block(rank));
  }
  schedule.next_round();
  sizes[index(team.rank)] = 0;  // its block for itself is where it belongs
  Exchange(schedule, team, apart, known).build();
}

}  // namespace starling::mpi::coll

// SPDX-License-Identifier: BSD-3-Clause
/// @file  The tables. A collective has a list of algorithms, each with what it cannot do without, and a list
/// of rows of which the first that fits decides. docs/design/collectives.md

#include "mpi/coll/select.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/late.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

// kNodes: several nodes, of which the operands' order, if it counts, is that of the ranks.
constexpr unsigned kCommutative = 1, kUniform = 2, kPowerOfTwo = 4, kNodes = 8;
constexpr int kAnyRanks = std::numeric_limits<int>::max();
constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

template <class Asked>
struct Algorithm {
  void (*build)(Schedule&, const Team&, const Asked&);
  unsigned needs = 0;
};
struct Row {
  int least_ranks, most_ranks;
  std::uint64_t most_bytes;
  std::uint8_t algorithm;
};
/// One call: what is chosen for, on which grounds, and what else it has that algorithms need.
struct Case {
  Collective which;
  Facts facts;
  unsigned has;
};

// Each list is in the order of the choices in params.hpp. The last row always fits.

// bytes: the message
constexpr Algorithm<Bcast> kBcasts[] = {
    {bcast_binomial}, {bcast_scatter_ring}, {bcast_chain}, {bcast_nodes, kNodes}};
constexpr Row kBcastRows[] = {{1, kAnyRanks, kAnyBytes, 3}, {1, 2, kAnyBytes, 0},
                              {3, kAnyRanks, 16 << 10, 0},  {17, kAnyRanks, 512 << 10, 0},
                              {3, 64, kAnyBytes, 1},        {65, kAnyRanks, kAnyBytes, 2}};
// bytes: the vector
constexpr Algorithm<Reduce> kReduces[] = {
    {reduce_binomial}, {reduce_ring, kCommutative}, {reduce_nodes, kNodes}};
constexpr Row kReduceRows[] = {{1, kAnyRanks, kAnyBytes, 2},
                               {1, 2, kAnyBytes, 0},
                               {3, kAnyRanks, 32 << 10, 0},
                               {3, 64, kAnyBytes, 1},
                               {1, kAnyRanks, kAnyBytes, 0}};
constexpr Algorithm<Reduce> kAllreduces[] = {{allreduce_recursive_doubling},
                                             {allreduce_rabenseifner, kCommutative},
                                             {allreduce_ring, kCommutative},
                                             {allreduce_nodes, kNodes},
                                             {allreduce_parts, kNodes}};
constexpr Row kAllreduceRows[] = {{1, kAnyRanks, 64 << 10, 3},   {1, kAnyRanks, kAnyBytes, 4},
                                  {1, kAnyRanks, 4 << 10, 0},    {1, 2, kAnyBytes, 1},
                                  {3, kAnyRanks, 256 << 10, 1},  {3, 64, kAnyBytes, 2},
                                  {65, kAnyRanks, kAnyBytes, 1}, {1, kAnyRanks, kAnyBytes, 0}};
// bytes: one block
constexpr Algorithm<Gather> kGathers[] = {
    {gather_binomial, kUniform}, {gather_linear}, {gather_nodes, kUniform | kNodes}};
constexpr Algorithm<Scatter> kScatters[] = {
    {scatter_binomial, kUniform}, {scatter_linear}, {scatter_nodes, kUniform | kNodes}};
constexpr Row kRootedRows[] = {
    {1, kAnyRanks, 8 << 10, 2}, {4, kAnyRanks, 2 << 10, 0}, {1, kAnyRanks, kAnyBytes, 1}};
// bytes: all blocks
constexpr Algorithm<Gather> kAllgathers[] = {{allgather_recursive_doubling, kUniform | kPowerOfTwo},
                                             {allgather_bruck},
                                             {allgather_ring},
                                             {allgather_nodes, kNodes}};
constexpr Row kAllgatherRows[] = {{1, kAnyRanks, 1 << 20, 3},
                                  {1, kAnyRanks, 128 << 10, 0},
                                  {3, kAnyRanks, 64 << 10, 1},
                                  {1, kAnyRanks, kAnyBytes, 2}};
// bytes: one block
constexpr Algorithm<Alltoall> kAlltoalls[] = {
    {alltoall_bruck, kUniform}, {alltoall_linear}, {alltoall_pairwise}, {alltoall_nodes, kUniform | kNodes}};
constexpr Row kAlltoallRows[] = {{1, kAnyRanks, kAnyBytes, 3},
                                 {8, kAnyRanks, 256, 0},
                                 {1, kAnyRanks, 32 << 10, 1},
                                 {1, kAnyRanks, kAnyBytes, 2}};
// bytes: the whole vector
constexpr Algorithm<ReduceScatter> kReduceScatters[] = {
    {reduce_scatter_tree}, {reduce_scatter_pairwise, kCommutative}, {reduce_scatter_nodes, kNodes}};
constexpr Row kReduceScatterRows[] = {{1, kAnyRanks, kAnyBytes, 2},
                                      {3, kAnyRanks, 4 << 10, 0},
                                      {1, kAnyRanks, kAnyBytes, 1},
                                      {1, kAnyRanks, kAnyBytes, 0}};

/// 1 + the index of the algorithm that a parameter asks for and that is able, or 0.
template <class Able>
[[nodiscard]] std::size_t asked_for(const Tuning& tuning, const Case& call, Able&& able) {
  for (const Rule& rule : tuning.rules) {
    if (!rule.fits(call.which, call.facts)) continue;
    if (rule.algorithm == 0 || able(rule.algorithm - 1u)) return rule.algorithm;
  }
  const std::uint8_t forced = tuning.forced[static_cast<std::size_t>(call.which)];
  return forced != 0 && able(forced - 1u) ? forced : 0;
}

/// The index of the algorithm for a call.
template <class Asked>
[[nodiscard]] std::size_t chosen(const Tuning& tuning, std::span<const Algorithm<Asked>> algorithms,
                                 std::span<const Row> rows, const Case& call) {
  const unsigned has = call.has | (call.facts.commutative ? kCommutative : 0);
  const auto able = [&](std::size_t index) {
    return index < algorithms.size() && (algorithms[index].needs & ~has) == 0;
  };
  if (const std::size_t wanted = asked_for(tuning, call, able); wanted != 0) return wanted - 1;
  for (const Row& row : rows) {
    const Facts& facts = call.facts;
    if (facts.ranks < row.least_ranks || facts.ranks > row.most_ranks || facts.bytes > row.most_bytes)
      continue;
    if (able(row.algorithm)) return row.algorithm;
  }
  expects(false, "no algorithm fits a collective");
  return 0;
}

template <class Asked>
void run(Schedule& schedule, const Team& team, const Tuning& tuning,
         std::span<const Algorithm<Asked>> algorithms, std::span<const Row> rows, const Case& call,
         const Asked& asked) {
  algorithms[chosen(tuning, algorithms, rows, call)].build(schedule, team, asked);
}

[[nodiscard]] unsigned nodes_flag(const Team& team, bool commutative = true) {
  return team.hierarchy != nullptr && (commutative || team.hierarchy->ordered()) ? kNodes : 0;
}

[[nodiscard]] unsigned power_flag(int ranks) { return power_of_two_below(ranks) == ranks ? kPowerOfTwo : 0; }

template <class Asked>
[[nodiscard]] bool nodes_chosen(const Tuning& tuning, std::span<const Algorithm<Asked>> algorithms,
                                std::span<const Row> rows, const Case& call) {
  return (algorithms[chosen(tuning, algorithms, rows, call)].needs & kNodes) != 0;
}

/// Of blocks so long that a node's message is slower than its parts it is not offered.
[[nodiscard]] unsigned block_flag(const Team& team, std::uint64_t bytes) {
  return team.hierarchy != nullptr && bytes <= Together::most_bytes(*team.hierarchy) ? kNodes : 0;
}
/// An alltoall of equal blocks.
[[nodiscard]] bool nodes_take(const Team& team, const Tuning& tuning, std::uint64_t bytes) {
  const Case call{Collective::alltoall, {team.size, bytes, false}, kUniform | block_flag(team, bytes)};
  return bytes != 0 && nodes_chosen<Alltoall>(tuning, kAlltoalls, kAlltoallRows, call);
}
/// Of others nobody knows the sizes, so that only what parameters say of all calls counts.
[[nodiscard]] bool nodes_take_unequal(const Team& team, const Tuning& tuning) {
  constexpr std::uint8_t kAlltoallNodes = 4;
  const std::uint8_t forced = tuning.forced[static_cast<std::size_t>(Collective::alltoall)];
  const bool ruled = std::any_of(tuning.rules.begin(), tuning.rules.end(), [](const Rule& rule) {
    return rule.collective == Collective::alltoall && rule.algorithm != kAlltoallNodes;
  });
  return team.hierarchy != nullptr && !ruled && (forced == 0 || forced == kAlltoallNodes);
}

}  // namespace

bool by_nodes(const Team& team, const Tuning& tuning, Collective which, const Facts& facts) {
  if (team.hierarchy == nullptr || team.inter || facts.bytes == 0) return false;
  const bool reduces =
      which == Collective::reduce || which == Collective::allreduce || which == Collective::reduce_scatter;
  const Case call{which, facts, nodes_flag(team, !reduces || facts.commutative)};
  switch (which) {
    case Collective::bcast: return nodes_chosen<Bcast>(tuning, kBcasts, kBcastRows, call);
    case Collective::reduce: return nodes_chosen<Reduce>(tuning, kReduces, kReduceRows, call);
    case Collective::allreduce: return nodes_chosen<Reduce>(tuning, kAllreduces, kAllreduceRows, call);
    case Collective::reduce_scatter:
      return nodes_chosen<ReduceScatter>(tuning, kReduceScatters, kReduceScatterRows, call);
    case Collective::allgather:
      return nodes_chosen<Gather>(tuning, kAllgathers, kAllgatherRows,
                                  {which, facts, kUniform | power_flag(team.size) | nodes_flag(team)});
    case Collective::alltoall: return nodes_take(team, tuning, facts.bytes);
    default: return false;
  }
}

bool by_parts(const Team& team, const Tuning& tuning, const Facts& facts) {
  const Case call{Collective::allreduce, facts, nodes_flag(team, facts.commutative)};
  return kAllreduces[chosen<Reduce>(tuning, kAllreduces, kAllreduceRows, call)].build == allreduce_parts;
}

/// Needs ranks in the order of nodes.
bool prefix_by_nodes(const Team& team) { return nodes_flag(team, false) != 0; }

void barrier(Schedule& schedule, const Team& team) {
  team.inter                  ? inter_barrier(schedule, team)
  : team.hierarchy != nullptr ? barrier_nodes(schedule, team)
                              : barrier_dissemination(schedule, team);
}

void bcast(Schedule& schedule, const Team& team, const Tuning& tuning, const Bcast& asked) {
  if (team.inter) return inter_bcast(schedule, team, asked);
  const std::uint64_t bytes = asked.count * asked.type.size;
  if (bytes == 0 || team.size == 1) return;
  run<Bcast>(schedule, team, tuning, kBcasts, kBcastRows,
             {Collective::bcast, {team.size, bytes, false}, nodes_flag(team)}, asked);
}

void reduce(Schedule& schedule, const Team& team, const Tuning& tuning, const Reduce& asked) {
  if (team.inter) return inter_reduce(schedule, team, asked);
  if (asked.count == 0) return;
  run<Reduce>(schedule, team, tuning, kReduces, kReduceRows,
              {Collective::reduce,
               {team.size, asked.count * asked.type.size, asked.operation.commutative},
               nodes_flag(team, asked.operation.commutative)},
              asked);
}

void allreduce(Schedule& schedule, const Team& team, const Tuning& tuning, const Reduce& asked) {
  if (team.inter) return inter_allreduce(schedule, team, asked);
  if (asked.count == 0) return;
  run<Reduce>(schedule, team, tuning, kAllreduces, kAllreduceRows,
              {Collective::allreduce,
               {team.size, asked.count * asked.type.size, asked.operation.commutative},
               nodes_flag(team, asked.operation.commutative)},
              asked);
}

void gather(Schedule& schedule, const Team& team, const Tuning& tuning, const Gather& asked) {
  if (team.inter) return inter_gather(schedule, team, asked);
  // The root in place has only the receive arguments, the others only the send arguments: the bytes agree.
  const std::uint64_t bytes =
      team.rank == asked.root && asked.in_place ? asked.receive.bytes(0) : asked.count * asked.type.size;
  if (bytes == 0) return;
  run<Gather>(schedule, team, tuning, kGathers, kRootedRows,
              {Collective::gather, {team.size, bytes, false}, kUniform | nodes_flag(team)}, asked);
}

void gatherv(Schedule& schedule, const Team& team, const Gather& asked) {
  team.inter                  ? inter_gather(schedule, team, asked)
  : team.hierarchy != nullptr ? gatherv_nodes(schedule, team, asked)
                              : gather_linear(schedule, team, asked);
}

void scatter(Schedule& schedule, const Team& team, const Tuning& tuning, const Scatter& asked) {
  if (team.inter) return inter_scatter(schedule, team, asked);
  const std::uint64_t bytes = team.rank == asked.root ? asked.send.bytes(0) : asked.count * asked.type.size;
  if (bytes == 0) return;
  run<Scatter>(schedule, team, tuning, kScatters, kRootedRows,
               {Collective::scatter, {team.size, bytes, false}, kUniform | nodes_flag(team)}, asked);
}

void scatterv(Schedule& schedule, const Team& team, const Scatter& asked) {
  team.inter                  ? inter_scatter(schedule, team, asked)
  : team.hierarchy != nullptr ? scatterv_nodes(schedule, team, asked)
                              : scatter_linear(schedule, team, asked);
}

void allgather(Schedule& schedule, const Team& team, const Tuning& tuning, const Gather& asked) {
  if (team.inter) return inter_allgather(schedule, team, asked);
  const std::uint64_t bytes = asked.receive.uniform()
                                  ? asked.receive.bytes(0) * static_cast<std::uint64_t>(team.size)
                                  : asked.receive.total(team.size);
  if (bytes == 0) return;
  const unsigned has = (asked.receive.uniform() ? kUniform : 0) | power_flag(team.size) | nodes_flag(team);
  run<Gather>(schedule, team, tuning, kAllgathers, kAllgatherRows,
              {Collective::allgather, {team.size, bytes, false}, has}, asked);
}

void alltoall(Schedule& schedule, const Team& team, const Tuning& tuning, const Alltoall& asked) {
  if (team.inter) return inter_alltoall(schedule, team, asked);
  const bool uniform = asked.receive.uniform();
  if (asked.in_place && !(uniform && nodes_take(team, tuning, asked.receive.bytes(0))))
    return alltoall_in_place(schedule, team, asked);
  if (!uniform && nodes_take_unequal(team, tuning)) return alltoall_nodes(schedule, team, asked);
  const auto ranks = static_cast<std::uint64_t>(team.size);
  // Of the v forms nobody knows more than its own sizes; the algorithms left send each block in one message,
  // so that processes may differ in their choice.
  const std::uint64_t bytes = uniform ? asked.receive.bytes(0) : asked.receive.total(team.size) / ranks;
  if (uniform && bytes == 0) return;
  run<Alltoall>(
      schedule, team, tuning, kAlltoalls, kAlltoallRows,
      {Collective::alltoall, {team.size, bytes, false}, uniform ? kUniform | block_flag(team, bytes) : 0},
      asked);
}

void scan(Schedule& schedule, const Team& team, const Reduce& asked) {
  if (asked.count == 0) return;
  prefix_by_nodes(team) ? scan_nodes(schedule, team, asked) : scan_doubling(schedule, team, asked);
}

void exscan(Schedule& schedule, const Team& team, const Reduce& asked) {
  if (asked.count == 0) return;
  prefix_by_nodes(team) ? exscan_nodes(schedule, team, asked) : exscan_doubling(schedule, team, asked);
}

void reduce_scatter(Schedule& schedule, const Team& team, const Tuning& tuning, const ReduceScatter& asked) {
  if (team.inter) return inter_reduce_scatter(schedule, team, asked);
  const std::uint64_t bytes = asked.offset(team.size) * asked.type.size;
  if (bytes == 0) return;
  run<ReduceScatter>(schedule, team, tuning, kReduceScatters, kReduceScatterRows,
                     {Collective::reduce_scatter,
                      {team.size, bytes, asked.operation.commutative},
                      nodes_flag(team, asked.operation.commutative)},
                     asked);
}

}  // namespace starling::mpi::coll

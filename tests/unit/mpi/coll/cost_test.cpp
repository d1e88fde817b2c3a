// SPDX-License-Identifier: BSD-3-Clause
/// @file  What each algorithm may cost: its messages, bytes and rounds. A message too many moves no data to a
/// wrong place, so no other test sees it.

#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "mpi/coll/builders.hpp"
#include "pairs.hpp"

namespace starling::mpi::coll::testing {
namespace {

using Do = Schedule::Do;

constexpr std::uint64_t kBlock = 24;  // bytes of one block

/// Of all processes together; rounds: the most that one of them has.
struct Cost {
  std::uint64_t sends = 0, receives = 0, sent_bytes = 0, received_bytes = 0, rounds = 0;
};

Type bytes_type() {
  Type type;
  type.size = 1;
  type.extent = type.true_extent = 1;
  type.contiguous = true;
  return type;
}

/// `build` makes one process's schedule with memory of `blocks` blocks on either side.
using Building = std::function<void(Schedule&, const Team&, std::byte*, std::byte*)>;
Cost cost_of(int n, int blocks, const Building& build) {
  Cost cost;
  for (int rank = 0; rank < n; ++rank) {
    std::vector<std::byte> from(kBlock * at(blocks)), to(kBlock * at(blocks));
    Schedule schedule;
    build(schedule, {rank, n, 0, false}, from.data(), to.data());
    std::uint64_t rounds = 0;
    for (const Schedule::Round& round : schedule.rounds()) rounds += round.messages != 0;
    cost.rounds = std::max(cost.rounds, rounds);
    for (const Schedule::Step& step : schedule.steps()) {
      if (step.what == Do::send) ++cost.sends, cost.sent_bytes += step.from.bytes;
      if (step.what == Do::receive) ++cost.receives, cost.received_bytes += step.to.bytes;
    }
  }
  EXPECT_EQ(cost.sends, cost.receives) << n;
  EXPECT_EQ(cost.sent_bytes, cost.received_bytes) << n;
  return cost;
}

std::uint64_t wide(int value) { return static_cast<std::uint64_t>(value); }
/// Rounds of a tree of n processes.
std::uint64_t levels(int n) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(n - 1)));
}

Cost gathered(void (*build)(Schedule&, const Team&, const Gather&), int n, int root) {
  return cost_of(n, n, [&](Schedule& schedule, const Team& team, std::byte* from, std::byte* to) {
    build(schedule, team, {from, kBlock, bytes_type(), Blocks(to, kBlock, bytes_type()), root, false});
  });
}
Cost scattered(void (*build)(Schedule&, const Team&, const Scatter&), int n, int root) {
  return cost_of(n, n, [&](Schedule& schedule, const Team& team, std::byte* from, std::byte* to) {
    build(schedule, team, {Blocks(from, kBlock, bytes_type()), to, kBlock, bytes_type(), root, false});
  });
}

TEST(CollCost, a_barrier_is_one_message_each_way_per_level) {
  for (const int n : kSizes) {
    const Cost cost = cost_of(n, 1, [](Schedule& schedule, const Team& team, std::byte*, std::byte*) {
      barrier_dissemination(schedule, team);
    });
    EXPECT_EQ(cost.sends, wide(n) * levels(n)) << n;
    EXPECT_EQ(cost.rounds, levels(n)) << n;
    EXPECT_EQ(cost.sent_bytes, 0u);
  }
}

TEST(CollCost, a_broadcast_down_a_tree_reaches_everybody_once) {
  for (const int n : kSizes) {
    for (int root = 0; root < n; ++root) {
      const Cost cost = cost_of(n, 1, [&](Schedule& schedule, const Team& team, std::byte* from, std::byte*) {
        bcast_binomial(schedule, team, {from, kBlock, bytes_type(), root});
      });
      EXPECT_EQ(cost.sends, wide(n - 1)) << n;
      EXPECT_EQ(cost.sent_bytes, wide(n - 1) * kBlock) << n;
    }
  }
}

TEST(CollCost, who_gathers_or_scatters_gets_one_message_of_each_child) {
  for (const int n : kSizes) {
    for (int root = 0; root < n; ++root) {
      EXPECT_EQ(gathered(gather_linear, n, root).sent_bytes, wide(n - 1) * kBlock) << n;
      EXPECT_EQ(scattered(scatter_linear, n, root).sent_bytes, wide(n - 1) * kBlock) << n;
      EXPECT_EQ(gathered(gather_linear, n, root).sends, wide(n - 1)) << n;
      EXPECT_EQ(scattered(scatter_linear, n, root).sends, wide(n - 1)) << n;
      EXPECT_EQ(gathered(gather_binomial, n, root).sends, wide(n - 1)) << n;
      EXPECT_EQ(scattered(scatter_binomial, n, root).sends, wide(n - 1)) << n;
    }
  }
}

TEST(CollCost, an_allgather_moves_each_block_to_each_process_once) {
  for (const int n : kSizes) {
    const Cost ring = gathered(allgather_ring, n, 0), bruck = gathered(allgather_bruck, n, 0);
    EXPECT_EQ(ring.sends, wide(n) * wide(n - 1)) << n;
    EXPECT_EQ(ring.rounds, wide(n - 1)) << n;
    EXPECT_EQ(bruck.sends, wide(n) * levels(n)) << n;
    EXPECT_EQ(bruck.rounds, levels(n)) << n;
    EXPECT_EQ(ring.sent_bytes, wide(n) * wide(n - 1) * kBlock) << n;
    EXPECT_EQ(bruck.sent_bytes, wide(n) * wide(n - 1) * kBlock) << n;
    if (!std::has_single_bit(wide(n))) continue;
    const Cost doubling = gathered(allgather_recursive_doubling, n, 0);
    EXPECT_EQ(doubling.sends, wide(n) * levels(n)) << n;
    EXPECT_EQ(doubling.rounds, levels(n)) << n;
    EXPECT_EQ(doubling.sent_bytes, wide(n) * wide(n - 1) * kBlock) << n;
  }
}

TEST(CollCost, an_alltoall_is_one_message_per_pair_or_one_per_level) {
  using Build = void (*)(Schedule&, const Team&, const Alltoall&);
  const auto cost = [](Build build, int n) {
    return cost_of(n, n, [&](Schedule& schedule, const Team& team, std::byte* from, std::byte* to) {
      build(schedule, team, {Blocks(from, kBlock, bytes_type()), Blocks(to, kBlock, bytes_type()), false});
    });
  };
  for (const int n : kSizes) {
    const std::uint64_t pairs = wide(n) * wide(n - 1);
    for (const Build build : {alltoall_pairwise, alltoall_linear}) {
      EXPECT_EQ(cost(build, n).sends, pairs) << n;
      EXPECT_EQ(cost(build, n).sent_bytes, pairs * kBlock) << n;
    }
    EXPECT_EQ(cost(alltoall_pairwise, n).rounds, wide(n - 1)) << n;
    EXPECT_EQ(cost(alltoall_bruck, n).sends, wide(n) * levels(n)) << n;
    EXPECT_EQ(cost(alltoall_bruck, n).rounds, levels(n)) << n;
  }
}

}  // namespace
}  // namespace starling::mpi::coll::testing

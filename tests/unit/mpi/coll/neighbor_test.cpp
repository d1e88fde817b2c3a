// SPDX-License-Identifier: BSD-3-Clause
/// @file  Neighbourhood collectives: which block arrives where, when several messages travel between the same
/// two processes.

#include <numeric>

#include "fake_world.hpp"
#include "mpi/coll/select.hpp"

namespace starling::mpi::coll::testing {
namespace {

Type int_type() {
  Type type;
  type.size = type.true_extent = sizeof(int);
  type.extent = sizeof(int);
  type.contiguous = true;
  return type;
}

/// The neighbours of each process, as it lists them.
struct Lists {
  std::vector<std::vector<int>> sources, destinations;
  bool grid = false;
  [[nodiscard]] Neighbors of(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return {sources[at], destinations[at], grid};
  }
};

int label(int rank, std::size_t block) { return rank * 100 + static_cast<int>(block); }

/// What each process receives when it sends label(rank, block) in each block; -1 where nothing arrives.
std::vector<std::vector<int>> exchange(const Lists& lists, unsigned seed) {
  const auto size = static_cast<int>(lists.sources.size());
  const Type type = int_type();
  Job job(size, 0, seed);
  std::vector<std::vector<int>> out(lists.sources.size()), in(lists.sources.size());
  for (int rank = 0; rank < size; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const Neighbors neighbors = lists.of(rank);
    for (std::size_t k = 0; k < neighbors.destinations.size(); ++k) out[at].push_back(label(rank, k));
    in[at].assign(neighbors.sources.size(), -1);
    Alltoall asked;
    asked.send = Blocks(out[at].data(), 1, type);
    asked.receive = Blocks(in[at].data(), 1, type);
    neighbor_alltoall(job[rank].execution.schedule, neighbors, asked);
  }
  EXPECT_TRUE(job.run());
  EXPECT_TRUE(job.world().empty());
  return in;
}

/// A line of `size` processes in one dimension, and alone in a second one.
Lists line(int size, bool periodic) {
  Lists lists;
  lists.grid = true;
  for (int rank = 0; rank < size; ++rank) {
    const auto beyond = [&](int where) {
      if (where >= 0 && where < size) return where;
      return periodic ? (where + size) % size : kNobody;
    };
    lists.sources.push_back({beyond(rank - 1), beyond(rank + 1), rank, rank});
  }
  lists.destinations = lists.sources;
  return lists;
}

TEST(Neighbors, what_a_grid_sends_forwards_comes_from_behind) {
  for (const int size : {1, 2, 3, 5}) {
    for (const bool periodic : {false, true}) {
      const Lists lists = line(size, periodic);
      for (unsigned seed = 1; seed < 20; ++seed) {
        const auto in = exchange(lists, seed);
        for (std::size_t rank = 0; rank < in.size(); ++rank) {
          for (std::size_t j = 0; j < 4; ++j) {
            const int from = lists.sources[rank][j];
            EXPECT_EQ(in[rank][j], from == kNobody ? -1 : label(from, j ^ 1u)) << size << " " << rank;
          }
        }
      }
    }
  }
}

TEST(Neighbors, edges_of_a_graph_match_in_order) {
  for (unsigned seed = 1; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::size_t size = 1 + random() % 6;
    Lists lists;
    lists.sources.resize(size);
    lists.destinations.resize(size);
    std::vector<std::vector<int>> expected(size);
    for (std::size_t edge = 0; edge < 4 * size; ++edge) {
      const std::size_t from = random() % size, to = random() % size;
      expected[to].push_back(label(static_cast<int>(from), lists.destinations[from].size()));
      lists.destinations[from].push_back(static_cast<int>(to));
      lists.sources[to].push_back(static_cast<int>(from));
    }
    EXPECT_EQ(exchange(lists, seed), expected);
  }
}

TEST(Neighbors, everybody_gets_the_same_block_of_an_allgather) {
  constexpr int kSize = 3;
  const Lists lists = line(kSize, true);
  const Type type = int_type();
  Job job(kSize);
  std::vector<int> out(kSize);
  std::iota(out.begin(), out.end(), 70);
  std::vector<std::vector<int>> in(kSize, std::vector<int>(4, -1));
  for (int rank = 0; rank < kSize; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    Gather asked;
    asked.send = &out[at];
    asked.count = 1;
    asked.type = type;
    asked.receive = Blocks(in[at].data(), 1, type);
    neighbor_allgather(job[rank].execution.schedule, lists.of(rank), asked);
  }
  ASSERT_TRUE(job.run());
  for (std::size_t rank = 0; rank < kSize; ++rank) {
    for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(in[rank][j], 70 + lists.sources[rank][j]);
  }
}

TEST(Neighbors, empty_blocks_and_nobody_send_nothing) {
  const Type type = int_type();
  const std::vector<int> peers{kNobody, 1};
  Schedule schedule;
  Alltoall asked;
  asked.send = asked.receive = Blocks(nullptr, 0, type);
  neighbor_alltoall(schedule, {peers, peers, true}, asked);
  EXPECT_TRUE(schedule.rounds().empty());
}

}  // namespace
}  // namespace starling::mpi::coll::testing

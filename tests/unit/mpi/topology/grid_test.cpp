// SPDX-License-Identifier: BSD-3-Clause
// Grids: ranks, coordinates, neighbours, slices.
#include "mpi/topology/grid.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace starling::mpi::topology {
namespace {

using Ints = std::vector<int>;

TEST(Grid, the_last_coordinate_changes_fastest) {
  const Grid grid({2, 3}, {false, false});
  EXPECT_EQ(grid.size(), 6);
  EXPECT_EQ(grid.coordinates(0), (Ints{0, 0}));
  EXPECT_EQ(grid.coordinates(1), (Ints{0, 1}));
  EXPECT_EQ(grid.coordinates(3), (Ints{1, 0}));
  EXPECT_EQ(grid.coordinates(5), (Ints{1, 2}));
}

TEST(Grid, rank_at_is_the_reverse_of_coordinates) {
  const Grid grid({3, 1, 4, 2}, {true, false, true, false});
  for (int rank = 0; rank < grid.size(); ++rank) EXPECT_EQ(grid.rank_at(grid.coordinates(rank)), rank);
}

TEST(Grid, coordinates_wrap_in_periodic_dimensions_only) {
  const Grid grid({4, 4}, {true, false});
  EXPECT_EQ(grid.rank_at(Ints{-1, 2}), grid.rank_at(Ints{3, 2}));
  EXPECT_EQ(grid.rank_at(Ints{9, 0}), grid.rank_at(Ints{1, 0}));
  EXPECT_EQ(grid.rank_at(Ints{std::numeric_limits<int>::min(), 1}), grid.rank_at(Ints{0, 1}));
  EXPECT_EQ(grid.rank_at(Ints{0, 4}), std::nullopt);
  EXPECT_EQ(grid.rank_at(Ints{0, -1}), std::nullopt);
}

TEST(Grid, beyond_takes_any_distance) {
  const Grid ring({5}, {true}), line({5}, {false});
  EXPECT_EQ(ring.beyond(1, 0, -2), 4);
  EXPECT_EQ(ring.beyond(4, 0, 1), 0);
  EXPECT_EQ(ring.beyond(0, 0, std::numeric_limits<int>::max()), std::numeric_limits<int>::max() % 5);
  EXPECT_EQ(ring.beyond(0, 0, -std::int64_t{std::numeric_limits<int>::min()}), 3);  // 2^31 mod 5
  EXPECT_EQ(line.beyond(1, 0, 3), 4);
  EXPECT_EQ(line.beyond(1, 0, 4), std::nullopt);
  EXPECT_EQ(line.beyond(1, 0, -2), std::nullopt);
  EXPECT_EQ(line.beyond(1, 0, 0), 1);
}

TEST(Grid, without_dimensions_there_is_one_process) {
  const Grid grid({}, {});
  EXPECT_EQ(grid.size(), 1);
  EXPECT_EQ(grid.coordinates(0), Ints{});
  EXPECT_EQ(grid.rank_at({}), 0);
}

TEST(Grid, slices_part_the_grid) {
  const Grid grid({2, 3, 4}, {true, false, true});
  for (unsigned bits = 0; bits < 8; ++bits) {
    const std::vector<bool> kept{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    std::set<std::pair<int, int>> places;
    for (int rank = 0; rank < grid.size(); ++rank) {
      const Grid::Slice slice = grid.slice(rank, kept);
      places.emplace(slice.number, slice.rank);
      EXPECT_LT(slice.number, grid.size() / slice.grid.size());
      Ints expected;
      for (std::size_t d = 0; d < 3; ++d) {
        if (kept[d]) expected.push_back(grid.coordinates(rank)[d]);
      }
      EXPECT_EQ(slice.grid.coordinates(slice.rank), expected);
    }
    EXPECT_EQ(places.size(), static_cast<std::size_t>(grid.size())) << "two processes share a place";
  }
}

TEST(Volume, stops_at_the_limit) {
  EXPECT_EQ(volume(Ints{2, 3}, 6), 6);
  EXPECT_EQ(volume(Ints{2, 3}, 5), std::nullopt);
  EXPECT_EQ(volume(Ints{1 << 30, 1 << 30, 1 << 30, 1 << 30}, std::numeric_limits<int>::max()), std::nullopt);
  EXPECT_EQ(volume({}, 1), 1);
}

}  // namespace
}  // namespace starling::mpi::topology

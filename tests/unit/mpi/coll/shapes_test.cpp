// SPDX-License-Identifier: BSD-3-Clause
// The boards of a communicator: sizes that memory and lengths ask for.

#include "mpi/coll/node/shapes.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace {

using namespace starling::mpi::coll::node;
using Index = Shapes::Index;

constexpr Index kLast = Shapes::kBoards - 1;

template <class Check>
void each_board(Check check) {
  for (std::size_t members = 2; members <= 256; ++members) {
    const Shapes shapes(members);
    for (Index board = 0; board < Shapes::kBoards; ++board) {
      SCOPED_TRACE(std::to_string(members) + " members, board " + std::to_string(board));
      check(members, board, shapes[board]);
    }
  }
}

TEST(Shapes, the_first_and_the_last_board_are_always_there) {
  each_board([](std::size_t, Index board, const BoardMemory::Shape& shape) {
    const std::size_t least = board == Shapes::kSmall ? 128 : board == kLast ? 4096 : 0;
    EXPECT_GE(shape.capacity(), least);
  });
}

TEST(Shapes, cells_are_counted_by_masks_and_begin_with_a_line) {
  each_board([](std::size_t, Index, const BoardMemory::Shape& shape) {
    if (shape.capacity() == 0) return;
    EXPECT_TRUE(std::has_single_bit(shape.cells));
    EXPECT_LE(shape.cells, kMostCells);
    EXPECT_EQ(shape.stride % 128, 0u);
  });
}

TEST(Shapes, memory_is_bounded) {
  each_board([](std::size_t members, Index, const BoardMemory::Shape& shape) {
    EXPECT_LE(members * shape.cells * shape.stride, std::size_t{5} << 20);
  });
}

TEST(Shapes, powers_of_two_fit_whole_into_cells) {
  each_board([](std::size_t, Index board, const BoardMemory::Shape& shape) {
    if (board == Shapes::kSmall || shape.capacity() == 0) return;
    EXPECT_EQ(std::bit_floor(shape.capacity()) + 128, shape.stride);
  });
}

TEST(Shapes, larger_cells_are_fewer) {
  each_board([](std::size_t members, Index board, const BoardMemory::Shape& shape) {
    if (shape.capacity() == 0 || board == kLast) return;
    EXPECT_GT(shape.cells, Shapes(members)[kLast].cells);
  });
}

TEST(Shapes, a_length_takes_the_first_board_that_holds_it) {
  const Shapes few(4);
  EXPECT_EQ(few.for_bytes(8), 0u);
  EXPECT_EQ(few.for_bytes(240), 0u);
  EXPECT_EQ(few.for_bytes(241), 1u);
  EXPECT_EQ(few.for_bytes(2048), 1u);
  EXPECT_EQ(few.for_bytes(16384), 2u);
  EXPECT_EQ(few.for_bytes(65536), 3u);
  EXPECT_EQ(few.for_bytes(1 << 30), 3u);
  EXPECT_EQ(few[3].capacity() + 16, (64u << 10) + 128);
  EXPECT_EQ(Shapes(16)[2].cells, 16u);
  EXPECT_EQ(Shapes(256).for_bytes(241), 3u);  // others would have too few cells
}

}  // namespace

// SPDX-License-Identifier: BSD-3-Clause
// What fits into the room for an answer. Layer: tests.

#include "mpi/runtime/hang_help.hpp"

#include <gtest/gtest.h>

#include <array>

namespace starling::mpi {
namespace {

TEST(HangHelpLines, are_told_as_far_as_they_fit) {
  EXPECT_EQ(fit_lines({"one", "two"}, 100), "one\ntwo");
  EXPECT_EQ(fit_lines({"one", "two"}, 28), "one\ntwo");
  const std::string long_line(40, 'x');
  EXPECT_EQ(fit_lines({"one", long_line, long_line}, 67), "one\n... and 2 more");
  EXPECT_EQ(fit_lines({"one", long_line, long_line}, 84), "one\n" + long_line + "\n... and 1 more");
}

TEST(HangHelpLines, are_cut_if_the_first_does_not_fit) {
  EXPECT_EQ(fit_lines({"twelve bytes", "more"}, 6), "twelve");
}

TEST(HangHelpLines, never_take_more_than_the_room) {
  const std::vector<std::string> lines(9, std::string(30, 'y'));
  for (std::size_t room = 1; room < 300; ++room) EXPECT_LE(fit_lines(lines, room).size(), room);
}

}  // namespace
}  // namespace starling::mpi

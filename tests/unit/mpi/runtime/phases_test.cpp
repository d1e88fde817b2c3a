// SPDX-License-Identifier: BSD-3-Clause
// Phases of start-up. Layer: tests.

#include "mpi/runtime/phases.hpp"

#include <gtest/gtest.h>

#include <string>

namespace starling::mpi {
namespace {

TEST(PhasesOfStart, that_happen_again_are_added_up) {
  Phases phases;
  phases.add("first", 2);
  phases.add("second", 3);
  phases.add(std::string("first").c_str(), 5);  // known by its text, not by its address
  ASSERT_EQ(phases.all().size(), 2u);
  EXPECT_STREQ(phases.all()[0].name, "first");
  EXPECT_EQ(phases.all()[0].ns, 7u);
  EXPECT_EQ(phases.all()[1].ns, 3u);
}

TEST(PhasesOfStart, are_timed_also_when_they_fail) {
  Phases phases;
  EXPECT_EQ(phases.time("a failure", [] { return -1; }), -1);
  ASSERT_EQ(phases.all().size(), 1u);
  EXPECT_STREQ(phases.all()[0].name, "a failure");
}

}  // namespace
}  // namespace starling::mpi

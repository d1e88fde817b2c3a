// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/poll_loop.hpp"

#include <gtest/gtest.h>

namespace starling::mpi {
namespace {

constexpr std::uint64_t kStart = 1'000'000'000;

/// How many of `questions`, one every `apart` nanoseconds, were found to be a wait.
unsigned waits(PollLoop& loop, std::uint64_t& now, unsigned questions, std::uint64_t apart) {
  unsigned found = 0;
  for (unsigned i = 0; i < questions; ++i, now += apart) found += loop.ask(now) ? 1 : 0;
  return found;
}

TEST(PollLoop, who_asks_again_at_once_waits_from_the_eighth_question_on) {
  PollLoop loop;
  std::uint64_t now = kStart;
  EXPECT_EQ(waits(loop, now, PollLoop::kQuestions - 1, 100), 0u);
  EXPECT_EQ(waits(loop, now, 100, 100), 100u);
}

TEST(PollLoop, who_computes_between_questions_does_not) {
  PollLoop loop;
  std::uint64_t now = kStart;
  EXPECT_EQ(waits(loop, now, 1000, PollLoop::kAtOnceNs), 0u);
}

TEST(PollLoop, a_computation_begins_the_count_anew) {
  PollLoop loop;
  std::uint64_t now = kStart;
  EXPECT_EQ(waits(loop, now, PollLoop::kQuestions, 100), 1u);
  now += 10 * PollLoop::kAtOnceNs;
  EXPECT_EQ(waits(loop, now, PollLoop::kQuestions - 1, 100), 0u);
  EXPECT_EQ(waits(loop, now, 1, 100), 1u);
}

TEST(PollLoop, time_in_which_others_had_the_core_is_no_computation) {
  PollLoop loop;
  std::uint64_t now = kStart;
  EXPECT_EQ(waits(loop, now, PollLoop::kQuestions, 100), 1u);
  now += 1000 * PollLoop::kAtOnceNs;
  loop.resumed(now);
  EXPECT_EQ(waits(loop, now, 3, 100), 3u);
}

}  // namespace
}  // namespace starling::mpi

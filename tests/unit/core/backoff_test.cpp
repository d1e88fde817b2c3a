// SPDX-License-Identifier: BSD-3-Clause
#include "core/backoff.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace starling {
namespace {

using Slow = Backoff<16, 100>;

/// Pieces of work that are not tried, before one is.
unsigned pause_of(Slow& backoff) {
  unsigned pause = 0;
  while (!backoff.tries()) ++pause;
  return pause;
}

TEST(Backoff, tries_until_it_fails) {
  Slow backoff;
  EXPECT_TRUE(backoff.tries());
  EXPECT_TRUE(backoff.tries());
}

TEST(Backoff, tries_more_and_more_rarely_while_it_fails) {
  Slow backoff;
  std::vector<unsigned> pauses;
  for (int times = 0; times < 5; ++times) {
    backoff.failed();
    pauses.push_back(pause_of(backoff));
  }
  EXPECT_EQ(pauses, (std::vector<unsigned>{16, 32, 64, 100, 100}));
}

TEST(Backoff, forgets_with_a_success) {
  Slow backoff;
  backoff.failed();
  EXPECT_EQ(pause_of(backoff), 16u);
  backoff.succeeded();
  EXPECT_TRUE(backoff.tries());
  backoff.failed();
  EXPECT_EQ(pause_of(backoff), 16u);
}

}  // namespace
}  // namespace starling

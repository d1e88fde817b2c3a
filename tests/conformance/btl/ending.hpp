// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What was said of the end of something that was posted. Layer: tests.

#include "tests/conformance/btl/suite.hpp"

namespace starling::conformance {

struct Ending : btl::Completion {
  Ending() noexcept {
    done = [](btl::Completion* self, bool good) noexcept {
      auto& ending = static_cast<Ending&>(*self);
      ++ending.times_told;
      ending.ok = good;
    };
  }
  int times_told = 0;
  bool ok = false;
};

/// Calls `access(Completion*)` until it is taken, and waits for its end. Gtest failures: it does not end, or
/// badly, or is told twice.
template <class Access>
void finish(BtlJob& job, const char* what, Access access) {
  Ending ending;
  Post post = Post::again;
  const Deadline deadline = patience();
  while ((post = access(&ending)) == Post::again) {
    job.progress();
    ASSERT_FALSE(deadline.passed()) << what << " gives again for ever";
  }
  while (post == Post::posted && ending.times_told == 0) {
    job.progress();
    ASSERT_FALSE(deadline.passed()) << what << " gave posted, and its Completion is never called";
  }
  EXPECT_EQ(ending.times_told, post == Post::posted ? 1 : 0)
      << what << ": posted: told once; done: not at all";
  EXPECT_TRUE(post == Post::done || ending.ok) << what << " failed";
}

}  // namespace starling::conformance

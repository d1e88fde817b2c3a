// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the tests of the btl suite share: sending and waiting. Layer: tests.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/conformance/btl/came.hpp"
#include "tests/conformance/btl/job.hpp"
#include "tests/conformance/patience.hpp"

namespace starling::conformance {

class Btl : public testing::Test {
 protected:
  /// Sends, progressing everybody while there is no room.
  static void send(BtlJob& job, std::uint32_t from, std::uint32_t to, const Sent& what,
                   std::size_t header_bytes) {
    const auto message = test::make_message(what.number, what.bytes);
    const std::size_t header = std::min(header_bytes, message.size());
    const Deadline deadline = patience();
    for (;;) {
      const std::size_t delivered = job.sink(from).messages.size();
      const Post post = job.endpoint(from, to).send(test::bytes_of(message, 0, header),
                                                    test::bytes_of(message, header, message.size() - header));
      ASSERT_EQ(job.sink(from).messages.size(), delivered)
          << "a message was delivered within send(): only progress() delivers";
      ASSERT_NE(post, Post::posted) << "send() copies: it gives done or again";
      if (post == Post::done) return;
      job.progress();
      ASSERT_FALSE(deadline.passed()) << "send() of " << what.bytes << " bytes (message " << what.number
                                      << ") gives again for ever, though everybody progresses";
    }
  }
  /// Waits for as many messages, and a moment more if there is one too many.
  static void receive(BtlJob& job, std::uint32_t to, const std::vector<Sent>& sent) {
    const Deadline deadline = patience();
    while (job.sink(to).messages.size() < sent.size() && !deadline.passed()) job.progress();
    for (int i = 0; i < 20; ++i) job.progress();
    ASSERT_TRUE(came_as_sent(job.sink(to).messages, sent));
  }
  template <class Until>
  static bool progress_until(BtlJob& job, Until until) {
    const Deadline deadline = patience();
    while (!until() && !deadline.passed()) job.progress();
    return until();
  }
};

}  // namespace starling::conformance

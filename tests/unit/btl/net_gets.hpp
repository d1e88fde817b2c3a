// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What gets over a network must do beyond the suite for all btls. Layer: tests.
///
/// A test file whose NetHarness makes transports with gets instantiates the suite with it. Transport says in
/// kOutlivesReceivers whether a process survives the end of one that it sends to (UCX 1.13 over tcp: no).

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/conformance/btl/getting.hpp"
#include "tests/unit/btl/net_harness.hpp"

namespace starling::test {

template <class Harness>
class NetGets : public testing::Test {
 protected:
  /// Process 0 has asked for two, and `passes` later one of the two processes ends.
  static void end_after(unsigned passes, unsigned who, bool connected) {
    Harness harness(2);
    Getting first(8 << 20), second(100'000);
    auto& back = harness.endpoint(1, 0);
    if (connected) {
      ASSERT_EQ(back.send({}, make_message(1, 50)), Post::done);
      ASSERT_TRUE(progress_until(harness, [&] { return harness.sink(0).messages.size() == 1; }));
    }
    ASSERT_EQ(first.start(harness.endpoint(0, 1)), Post::posted);
    ASSERT_EQ(second.start(harness.endpoint(0, 1)), Post::posted);
    for (unsigned pass = 0; pass < passes; ++pass) {
      harness.component(1).progress();
      if (pass % 2 == 0) harness.component(0).progress();
    }
    harness.end(who);
    if (who == 0) {
      EXPECT_EQ(first.times_told, first.ok) << "told of a failure by a process that just ends";
      EXPECT_TRUE(progress_until(harness, [&] { return harness.component(1).drained(); })) << passes;
      return;
    }
    EXPECT_TRUE(progress_until(harness, [&] { return first.ended() && second.ended(); })) << passes;
    for (const Getting* get : {&first, &second}) EXPECT_TRUE(!get->ok || get->right()) << passes;
    EXPECT_EQ(first.times_told, 1);
    EXPECT_EQ(second.times_told, 1);
    EXPECT_TRUE(progress_until(harness, [&] { return harness.component(0).drained(); })) << passes;
  }
};

TYPED_TEST_SUITE_P(NetGets);

TYPED_TEST_P(NetGets, many_at_once_in_both_directions_among_messages) {
  TypeParam harness(2);
  std::vector<std::unique_ptr<Getting>> gets;
  for (unsigned i = 0; i < 40; ++i) {
    gets.push_back(std::make_unique<Getting>(1 + i * i * 900));
    ASSERT_EQ(gets.back()->start(harness.endpoint(i % 2, 1 - i % 2)), Post::posted);
    ASSERT_EQ(harness.endpoint(0, 1).send({}, make_message(i, 100)), Post::done);
  }
  EXPECT_FALSE(harness.component(0).drained());
  EXPECT_FALSE(harness.component(1).drained());
  EXPECT_TRUE(progress_until(harness, [&] {
    return std::all_of(gets.begin(), gets.end(), [](const auto& get) { return get->ended(); }) &&
           harness.sink(1).messages.size() == 40;
  }));
  for (const auto& get : gets) EXPECT_TRUE(get->right() && get->times_told == 1);
  EXPECT_TRUE(progress_until(harness, [&] { return harness.component(0).drained(); }));
  EXPECT_TRUE(progress_until(harness, [&] { return harness.component(1).drained(); }));
}

TYPED_TEST_P(NetGets, beyond_the_most_at_once_is_again) {
  TypeParam harness(2);
  harness.endpoint(1, 0);
  std::vector<std::unique_ptr<Getting>> gets;
  Post answer = Post::posted;
  while (answer == Post::posted && gets.size() < 10'000) {
    gets.push_back(std::make_unique<Getting>(10'000));
    answer = gets.back()->start(harness.endpoint(0, 1));
  }
  ASSERT_EQ(answer, Post::again);
  gets.pop_back();
  EXPECT_TRUE(progress_until(harness, [&] {
    return std::all_of(gets.begin(), gets.end(), [](const auto& get) { return get->ended(); });
  }));
  for (const auto& get : gets) EXPECT_TRUE(get->right());
  Getting last(10'000);
  EXPECT_EQ(last.start(harness.endpoint(0, 1)), Post::posted);
  EXPECT_TRUE(progress_until(harness, [&] { return last.ended(); }));
}

TYPED_TEST_P(NetGets, what_was_not_announced_is_not_given) {
  TypeParam harness(2);
  Getting get(100'000);
  harness.endpoint(1, 0);
  ASSERT_EQ(get.start(harness.endpoint(0, 1), Collector::kAnnounced + 1), Post::posted);
  EXPECT_TRUE(progress_until(harness, [&] { return get.ended(); }));
  EXPECT_FALSE(get.ok);
  EXPECT_TRUE(get.untouched());
  EXPECT_TRUE(harness.sink(0).lost.empty());
  Getting other(100'000);  // and nothing is broken by it
  ASSERT_EQ(other.start(harness.endpoint(0, 1)), Post::posted);
  EXPECT_TRUE(progress_until(harness, [&] { return other.ended(); }));
  EXPECT_TRUE(other.right());
}

TYPED_TEST_P(NetGets, an_owner_that_ends_at_any_point_ends_them) {
  for (const unsigned passes : {0u, 1u, 2u, 3u, 5u, 8u, 13u, 30u, 100u}) this->end_after(passes, 1, false);
  for (const unsigned passes : {0u, 1u, 2u, 3u, 5u, 9u, 40u}) this->end_after(passes, 1, true);
}

TYPED_TEST_P(NetGets, a_receiver_that_ends_at_any_point_is_nothing_to_wait_for) {
  if (!TypeParam::Of::kOutlivesReceivers) GTEST_SKIP() << "the library ends who sends to a process that ends";
  for (const unsigned passes : {1u, 2u, 3u, 5u, 8u, 13u, 30u, 100u}) this->end_after(passes, 0, true);
}

TYPED_TEST_P(NetGets, an_owner_that_sleeps_is_woken_for_them) {
  TypeParam harness(2);
  harness.endpoint(1, 0);
  ASSERT_EQ(harness.endpoint(0, 1).send({}, make_message(1, 50)), Post::done);
  ASSERT_TRUE(progress_until(harness, [&] { return harness.sink(1).messages.size() == 1; }));
  // Made before the owner's thread and destroyed after it: ThreadSanitizer sees no order through the network.
  std::vector<std::unique_ptr<Getting>> gets;
  for (unsigned i = 1; i <= 20; ++i) gets.push_back(std::make_unique<Getting>(i * 300'000));
  std::uint64_t slept = 0;
  std::thread owner([&] {
    const Deadline deadline = Deadline::after_seconds(60);
    while (harness.sink(1).messages.size() < 2 && !deadline.passed()) {
      if (harness.component(1).progress() != 0 || !harness.component(1).begin_sleep()) continue;
      pollfd descriptor{harness.component(1).wait_fd(), POLLIN, 0};
      if (::poll(&descriptor, 1, 60'000) > 0) ++slept;
      harness.component(1).end_sleep();
    }
  });
  const Deadline deadline = Deadline::after_seconds(60);
  for (const auto& get : gets) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(get->start(harness.endpoint(0, 1)), Post::posted);
    while (!get->ended() && !deadline.passed()) harness.component(0).progress();
    EXPECT_TRUE(get->ok);
  }
  EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(2, 50)), Post::done);
  std::atomic<bool> all = false;
  std::thread pusher([&] {
    while (!all) harness.component(0).progress();
  });
  owner.join();
  all = true;
  pusher.join();
  for (const auto& get : gets) EXPECT_TRUE(get->right() && get->times_told == 1);
  EXPECT_EQ(harness.sink(1).messages.size(), 2u);
  EXPECT_GE(slept, 1u);
}

REGISTER_TYPED_TEST_SUITE_P(NetGets, many_at_once_in_both_directions_among_messages,
                            beyond_the_most_at_once_is_again, what_was_not_announced_is_not_given,
                            an_owner_that_ends_at_any_point_ends_them,
                            a_receiver_that_ends_at_any_point_is_nothing_to_wait_for,
                            an_owner_that_sleeps_is_woken_for_them);

}  // namespace starling::test

// SPDX-License-Identifier: BSD-3-Clause
// btl/shm: how ingress and lanes carry messages: order, growth and closing, what the node's memory bounds.

#include "tests/unit/btl/shm_harness.hpp"

namespace starling::test {
namespace {

TEST(BtlShmLanes, a_pair_gets_its_lane_after_some_messages_and_at_once_for_a_long_one) {
  ShmHarness harness(3);
  for (std::uint64_t i = 0; i < 4; ++i) send(harness, 0, 1, i, 8);
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 0u);
  EXPECT_EQ(harness.segment(0).arena_used(), 0u);
  send(harness, 0, 1, 4, 8);
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 4096u);
  EXPECT_EQ(harness.segment(0).arena_used(), 4096u);
  send(harness, 0, 2, 0, 241);
  EXPECT_EQ(harness.endpoint(0, 2).lane_bytes(), 4096u);
  progress_until_idle(harness, 1);
  progress_until_idle(harness, 2);
  ASSERT_EQ(harness.sink(1).messages.size(), 5u);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(harness.sink(1).messages[i].bytes, make_message(i, 8));
  EXPECT_EQ(harness.sink(2).messages.size(), 1u);
}

TEST(BtlShmLanes, a_lane_found_full_grows_up_to_its_limit_and_keeps_the_order) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lane_max=64k"});
  std::uint64_t sent = 0;
  while (harness.endpoint(0, 1).send({}, make_message(sent, 200)) == Post::done) ++sent;
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 64u * 1024);
  EXPECT_LT(sent, 2u * 64 * 1024 / 256) << "a lane of that size was replaced by another one";
  progress_until_idle(harness, 1);
  ASSERT_EQ(harness.sink(1).messages.size(), sent);
  for (std::uint64_t i = 0; i < sent; ++i) ASSERT_EQ(harness.sink(1).messages[i].bytes, make_message(i, 200));
  EXPECT_EQ(harness.segment(0).arena_used(), 64u * 1024) << "smaller lanes were not given back";
}

TEST(BtlShmLanes, short_and_long_messages_keep_their_order_whether_long_ones_are_cleaned_or_left) {
  constexpr std::uint64_t kMessages = 400;  // many laps
  constexpr std::size_t kBytes[] = {8, 56, 6000, 200, 4088, 4096, 7000, 57, 8, 5000, 8};
  for (const char* const cleaning : {"auto", "idle", "never", "always"}) {
    ShmHarness harness(
        2, {"STARLING_MCA_shm_lane_max=16k", std::string("STARLING_MCA_shm_lane_cleaning=") + cleaning});
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      send(harness, 0, 1, i, kBytes[i % std::size(kBytes)]);
      if (i % 3 == 0) progress_until_idle(harness, 1);
    }
    progress_until_idle(harness, 1);
    ASSERT_EQ(harness.sink(1).messages.size(), kMessages) << cleaning;
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_EQ(harness.sink(1).messages[i].bytes, make_message(i, kBytes[i % std::size(kBytes)]))
          << cleaning << ", message " << i;
    }
  }
}

TEST(BtlShmLanes, the_report_says_what_the_cleaning_of_long_messages_costs_and_saves) {
  ShmHarness harness(2);
  const auto notes = [&] { return harness.component(1).counters().notes; };
  std::uint64_t sent = 0;
  for (; notes().empty() && sent < 4000; ++sent) {
    send(harness, 0, 1, sent, 16 * 1024);
    progress_until_idle(harness, 1);
  }
  ASSERT_EQ(notes().size(), 1u);
  EXPECT_NE(notes().front().find("512 KiB of long messages"), std::string::npos) << notes().front();
  ASSERT_EQ(harness.sink(1).messages.size(), sent);
}

TEST(BtlShmLanes, each_long_message_ends_a_call_of_progress) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lane_first=256k"});
  for (std::uint64_t i = 0; i < 3; ++i) send(harness, 0, 1, i, 4096);
  for (std::uint64_t i = 3; i < 20; ++i) send(harness, 0, 1, i, 4000);
  EXPECT_EQ(harness.component(1).progress(), 1) << "the lane is announced";
  for (std::size_t taken = 1; taken <= 3; ++taken) {
    EXPECT_EQ(harness.component(1).progress(), 1);
    EXPECT_EQ(harness.sink(1).messages.size(), taken) << "no chance to post the next receive";
  }
  EXPECT_EQ(harness.component(1).progress(), 17) << "shorter ones are taken together";
}

TEST(BtlShmLanes, a_lane_that_longer_messages_go_through_grows_though_it_is_never_full) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lane_max=64k"});
  const auto exchange = [&](std::uint64_t messages, std::size_t bytes) {
    for (std::uint64_t i = 0; i < messages; ++i) {
      send(harness, 0, 1, i, bytes);
      progress_until_idle(harness, 1);
      ASSERT_EQ(harness.sink(1).messages.back().bytes, make_message(i, bytes));
    }
  };
  exchange(5000, 248);  // four cells
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 4096u) << "small ones need no larger one";
  exchange(90, 249);
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 4096u);
  exchange(20, 249);
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 16384u);
  exchange(2000, 1000);
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 65536u) << "up to the limit";
  EXPECT_EQ(harness.segment(0).arena_used(), 65536u);
}

TEST(BtlShmLanes, lanes_do_not_grow_above_the_node_wide_cap) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lanes_total_bytes=16k"});
  std::uint64_t sent = 0;
  while (harness.endpoint(0, 1).send({}, make_message(sent, 200)) == Post::done) ++sent;
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 4096u);
  progress_until_idle(harness, 1);
  EXPECT_EQ(harness.sink(1).messages.size(), sent);
}

TEST(BtlShmLanes, a_long_message_above_the_cap_takes_the_lane_that_is_unused_longest) {
  ShmHarness harness(4, {"STARLING_MCA_shm_lanes_total_bytes=8k"});
  send(harness, 0, 1, 0, 1000);
  send(harness, 0, 2, 0, 1000);
  send(harness, 0, 3, 0, 1000);  // looks for the first time: both were used since
  EXPECT_EQ(harness.segment(0).arena_used(), 3u * 4096);
  send(harness, 0, 2, 1, 1000);
  for (unsigned rank = 1; rank < 4; ++rank) progress_until_idle(harness, rank);
  harness.endpoint(0, 3).close_lane();
  progress_until_idle(harness, 3);
  send(harness, 0, 3, 1, 1000);  // only the lane to 1 has not moved
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 0u);
  EXPECT_EQ(harness.endpoint(0, 2).lane_bytes(), 4096u);
  progress_until_idle(harness, 1);
  EXPECT_EQ(harness.segment(0).arena_used(), 2u * 4096);
  for (std::uint64_t i = 1; i < 4; ++i) send(harness, 0, 1, i, i % 2 == 0 ? 1000 : 8);
  progress_until_idle(harness, 1);
  ASSERT_EQ(harness.sink(1).messages.size(), 4u);
  for (std::uint64_t i = 1; i < 4; ++i)
    EXPECT_EQ(harness.sink(1).messages[i].bytes, make_message(i, i % 2 == 0 ? 1000 : 8));
}

TEST(BtlShmLanes, a_waiting_process_gives_unused_lanes_back_above_the_cap_only) {
  for (const char* cap : {"STARLING_MCA_shm_lanes_total_bytes=4k", "STARLING_MCA_shm_lanes_total_bytes=8k"}) {
    ShmHarness harness(3, {cap});
    send(harness, 0, 1, 0, 1000);
    send(harness, 0, 2, 0, 1000);
    const bool above =
        harness.segment(0).arena_used() > 4096 && std::string(cap).find("=4k") != std::string::npos;
    const Deadline deadline = Deadline::after_seconds(above ? 30 : 1);
    while (harness.segment(0).arena_used() > 4096 && !deadline.passed())
      for (unsigned rank = 0; rank < 3; ++rank) harness.component(rank).progress();
    EXPECT_EQ(harness.segment(0).arena_used(), above ? 4096u : 8192u);
  }
}

TEST(BtlShmLanes, a_small_message_above_the_cap_stays_in_the_ingress) {
  ShmHarness harness(3, {"STARLING_MCA_shm_lanes_total_bytes=4k"});
  send(harness, 0, 1, 0, 1000);
  for (std::uint64_t i = 0; i < 20; ++i) send(harness, 0, 2, i, 100);
  EXPECT_EQ(harness.endpoint(0, 2).lane_bytes(), 0u);
  progress_until_idle(harness, 2);
  EXPECT_EQ(harness.sink(2).messages.size(), 20u);
}

TEST(BtlShmLanes, a_full_ingress_is_again_until_it_is_emptied) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lane_after=1000000"});
  std::uint64_t sent = 0;
  while (harness.endpoint(0, 1).send({}, make_message(sent, 240)) == Post::done) ++sent;
  EXPECT_EQ(sent, 61u);
  EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(0, 1000)), Post::again)
      << "no cell for the announcement";
  progress_until_idle(harness, 1);
  send(harness, 0, 1, sent, 1000);
  progress_until_idle(harness, 1);
  ASSERT_EQ(harness.sink(1).messages.size(), sent + 1);
  for (std::uint64_t i = 0; i < sent; ++i) ASSERT_EQ(harness.sink(1).messages[i].bytes, make_message(i, 240));
}

TEST(BtlShmLanes, without_memory_small_messages_still_pass_and_long_ones_say_why_not) {
  ShmHarness harness(2, {"STARLING_MCA_shm_memory_wait=1"}, 4096);
  ASSERT_TRUE(harness.segment(0).allocate(4096));
  for (std::uint64_t i = 0; i < 20; ++i) send(harness, 0, 1, i, 100);
  EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(0, 5000)), Post::again);
  progress_until_idle(harness, 1);
  ASSERT_EQ(harness.sink(1).messages.size(), 20u);
  const auto notes = harness.component(0).counters().notes;
  ASSERT_GE(notes.size(), 1u);
  EXPECT_NE(notes[0].find("shm_arena_bytes"), std::string::npos) << notes[0];
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.sink(0).lost.empty() && !deadline.passed()) {
    EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(0, 5000)), Post::again);
    ::usleep(20'000);
  }
  ASSERT_EQ(harness.sink(0).lost.size(), 1u);
  EXPECT_NE(harness.sink(0).reasons[0].find("shm_arena_bytes"), std::string::npos);
}

TEST(BtlShmLanes, a_lane_that_cannot_grow_for_lack_of_memory_goes_on_as_it_is) {
  ShmHarness harness(2, {}, 4096);
  std::uint64_t sent = 0;
  for (int turn = 0; turn < 5; ++turn) {
    while (harness.endpoint(0, 1).send({}, make_message(sent, 200)) == Post::done) ++sent;
    EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 4096u);
    progress_until_idle(harness, 1);
    ASSERT_EQ(harness.sink(1).messages.size(), sent);
  }
  for (std::uint64_t i = 0; i < sent; ++i) ASSERT_EQ(harness.sink(1).messages[i].bytes, make_message(i, 200));
  EXPECT_EQ(harness.segment(0).arena_used(), 4096u);
}

TEST(BtlShmLanes, seventy_lanes_are_polled_by_activity_and_lose_nothing) {
  constexpr unsigned kProcesses = 71;
  constexpr std::uint64_t kRounds = 200;
  const auto bytes = [](unsigned from, std::uint64_t round) {
    return (round >= 10 && round % 5 == 2 ? 4100 : 50) + from;
  };
  std::uint64_t sent = 0;
  ShmHarness harness(kProcesses, {}, 256u << 20);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    for (unsigned from = 1; from < kProcesses; ++from) {
      if (round > 20 && (from * 7 + round) % 5 != 0) continue;  // some are silent for a while
      send(harness, from, 0, round, bytes(from, round));
      ++sent;
    }
    if (round % 3 == 0) {
      progress_until_idle(harness, 0);
      ASSERT_EQ(harness.sink(0).messages.size(), sent) << "behind a long one, too; " << round;
    }
    EXPECT_EQ(harness.component(0).uses_activity(), round >= 6) << round;
  }
  progress_until_idle(harness, 0);
  EXPECT_EQ(harness.component(0).open_lanes(), kProcesses - 1);
  std::vector<std::uint64_t> next(kProcesses, 0);
  for (const auto& message : harness.sink(0).messages) {
    const unsigned from = message.from.rank;
    auto& round = next[from];
    while (round > 20 && round < kRounds && (from * 7 + round) % 5 != 0) ++round;
    ASSERT_EQ(message.bytes, make_message(round, bytes(from, round))) << from << " in round " << round;
    ++round;
  }
  for (unsigned from = 1; from < kProcesses; ++from) {
    auto& round = next[from];
    while (round < kRounds && (from * 7 + round) % 5 != 0) ++round;
    EXPECT_EQ(round, kRounds) << "from " << from;
  }
}

TEST(BtlShmLanes, a_closed_lane_is_given_back_and_a_later_message_comes_after_it) {
  ShmHarness harness(2);
  for (std::uint64_t i = 0; i < 10; ++i) send(harness, 0, 1, i, 100);
  EXPECT_NE(harness.endpoint(0, 1).lane_bytes(), 0u);
  harness.restart(0);  // closes the lane while it still holds messages
  for (std::uint64_t i = 10; i < 20; ++i) send(harness, 0, 1, i, 100);
  progress_until_idle(harness, 1);
  ASSERT_EQ(harness.sink(1).messages.size(), 20u);
  for (std::uint64_t i = 0; i < 20; ++i)
    ASSERT_EQ(harness.sink(1).messages[i].bytes, make_message(i, 100)) << i;
  EXPECT_EQ(harness.component(1).open_lanes(), 1u);
  EXPECT_EQ(harness.segment(0).arena_used(), 4096u);
}

TEST(BtlShmLanes, without_a_segment_it_says_so) {
  params::Registry params;
  Collector sink;
  const auto refused = btl::create_shm_component({params, sink, btl::Place{}, nullptr});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unsupported);
}

}  // namespace
}  // namespace starling::test

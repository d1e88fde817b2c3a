// SPDX-License-Identifier: BSD-3-Clause
// btl/shm: what is particular to ingress and lanes.

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "tests/unit/btl/shm_harness.hpp"

namespace {

bool memory_is_full = false;

}  // namespace

/// Instead of the C library's, so that a test can have no room left where there is plenty.
extern "C" int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  if (memory_is_full) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, offset, bytes));
}

namespace starling::test {
namespace {

void send(ShmHarness& harness, unsigned from, unsigned to, std::uint64_t number, std::size_t bytes) {
  const auto message = make_message(number, bytes);
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.endpoint(from, to).send({}, message) != Post::done) {
    harness.component(to).progress();
    ASSERT_FALSE(deadline.passed());
  }
}

void progress_until_idle(ShmHarness& harness, unsigned rank) {
  while (harness.component(rank).progress() != 0) {
  }
}

TEST(BtlShm, a_pair_gets_its_lane_after_some_messages_and_at_once_for_a_long_one) {
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

TEST(BtlShm, a_lane_found_full_grows_up_to_its_limit_and_keeps_the_order) {
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

TEST(BtlShm, short_and_long_messages_keep_their_order_whether_long_ones_are_cleaned_or_left) {
  constexpr std::uint64_t kMessages = 400;  // many laps
  constexpr std::size_t kBytes[] = {8, 56, 6000, 200, 4088, 4096, 7000, 57, 8, 5000, 8};
  for (const char* const cleaning : {"auto", "always", "never"}) {
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

TEST(BtlShm, the_report_says_what_the_cleaning_of_long_messages_costs_and_saves) {
  ShmHarness harness(2);
  const auto notes = [&] { return harness.component(1).counters().notes; };
  std::uint64_t sent = 0;
  for (; notes().empty() && sent < 1000; ++sent) {
    send(harness, 0, 1, sent, 16 * 1024);
    progress_until_idle(harness, 1);
  }
  ASSERT_EQ(notes().size(), 1u);
  EXPECT_NE(notes().front().find("512 KiB of long messages"), std::string::npos) << notes().front();
  ASSERT_EQ(harness.sink(1).messages.size(), sent);
}

TEST(BtlShm, each_long_message_ends_a_call_of_progress) {
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

TEST(BtlShm, a_lane_that_longer_messages_go_through_grows_though_it_is_never_full) {
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

TEST(BtlShm, lanes_do_not_grow_above_the_node_wide_cap) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lanes_total_bytes=16k"});
  std::uint64_t sent = 0;
  while (harness.endpoint(0, 1).send({}, make_message(sent, 200)) == Post::done) ++sent;
  EXPECT_EQ(harness.endpoint(0, 1).lane_bytes(), 4096u);
  progress_until_idle(harness, 1);
  EXPECT_EQ(harness.sink(1).messages.size(), sent);
}

TEST(BtlShm, a_long_message_above_the_cap_takes_the_lane_that_is_unused_longest) {
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

TEST(BtlShm, a_waiting_process_gives_unused_lanes_back_above_the_cap_only) {
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

TEST(BtlShm, a_small_message_above_the_cap_stays_in_the_ingress) {
  ShmHarness harness(3, {"STARLING_MCA_shm_lanes_total_bytes=4k"});
  send(harness, 0, 1, 0, 1000);
  for (std::uint64_t i = 0; i < 20; ++i) send(harness, 0, 2, i, 100);
  EXPECT_EQ(harness.endpoint(0, 2).lane_bytes(), 0u);
  progress_until_idle(harness, 2);
  EXPECT_EQ(harness.sink(2).messages.size(), 20u);
}

TEST(BtlShm, a_sender_that_sleeps_for_room_is_rung_when_the_reader_gives_some_back) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lane_max=4k"});
  while (harness.endpoint(0, 1).send({}, make_message(0, 200)) == Post::done) {
  }
  ASSERT_TRUE(harness.endpoint(0, 1).await_room());
  const std::uint32_t bell = harness.segment(0).prepare_sleep();
  ASSERT_EQ(harness.endpoint(0, 1).send({}, make_message(0, 200)), Post::again);
  EXPECT_EQ(harness.segment(0).slot(0).doorbell.load(), bell);
  progress_until_idle(harness, 1);
  EXPECT_NE(harness.segment(0).slot(0).doorbell.load(), bell);
  EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(0, 200)), Post::done);
}

/// Fills the lane from 0 to 1, and goes to sleep for a message of `bytes`; returns the bell as it was before.
std::uint32_t sleep_for_room(ShmHarness& harness, std::size_t bytes) {
  EXPECT_TRUE(harness.endpoint(0, 1).await_room());
  const std::uint32_t bell = harness.segment(0).prepare_sleep();
  EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(0, bytes)), Post::again);
  return bell;
}

TEST(BtlShm, a_sender_that_sleeps_for_room_is_rung_by_a_reader_that_is_never_idle) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lane_max=16k"});
  std::size_t sent = 0;
  while (harness.endpoint(0, 1).send({}, make_message(sent, 200)) == Post::done) ++sent;
  const std::uint32_t bell = sleep_for_room(harness, 200);
  // Each call finds something: none is the idle one that gives back what is left.
  for (std::size_t before = 0; harness.sink(1).messages.size() + 1 < sent;) {
    ASSERT_NE(harness.component(1).progress(), 0);
    ASSERT_GT(harness.sink(1).messages.size(), before);
    before = harness.sink(1).messages.size();
    if (harness.segment(0).slot(0).doorbell.load() != bell) break;
  }
  EXPECT_NE(harness.segment(0).slot(0).doorbell.load(), bell);
}

TEST(BtlShm, a_sender_that_sleeps_for_much_room_is_rung_when_an_idle_reader_gives_back_the_last_cells) {
  unsigned found = 0;  // of the places in the lane, those before which a long message leaves a gap
  for (unsigned before = 1; before < 64; ++before) {
    ShmHarness harness(2, {"STARLING_MCA_shm_lane_max=4k"});
    const std::size_t most = harness.component(0).limits().message_max_bytes;
    for (unsigned i = 0; i < before; ++i) {
      send(harness, 0, 1, i, 200);
      while (harness.sink(1).messages.size() <= i) harness.component(1).progress();
    }
    if (harness.endpoint(0, 1).send({}, make_message(0, most)) == Post::done) continue;
    ++found;
    const std::uint32_t bell = sleep_for_room(harness, most);
    EXPECT_EQ(harness.component(1).progress(), 0);
    EXPECT_NE(harness.segment(0).slot(0).doorbell.load(), bell) << before;
    EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(0, most)), Post::done);
  }
  EXPECT_GT(found, 0u);
}

TEST(BtlShm, a_sleeper_that_wants_no_room_is_not_rung_for_it) {
  ShmHarness harness(2);
  for (std::uint64_t i = 0; i < 10; ++i) send(harness, 0, 1, i, 8);
  const std::uint32_t bell = harness.segment(0).prepare_sleep();
  progress_until_idle(harness, 1);
  EXPECT_EQ(harness.segment(0).slot(0).doorbell.load(), bell);
}

TEST(BtlShm, a_full_ingress_is_again_until_it_is_emptied) {
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

TEST(BtlShm, without_memory_small_messages_still_pass_and_long_ones_say_why_not) {
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

TEST(BtlShm, a_lane_that_cannot_grow_for_lack_of_memory_goes_on_as_it_is) {
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

TEST(BtlShm, seventy_lanes_are_polled_by_activity_and_lose_nothing) {
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

TEST(BtlShm, a_closed_lane_is_given_back_and_a_later_message_comes_after_it) {
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

TEST(BtlShm, a_message_sent_before_the_peer_has_come_waits_for_it) {
  ShmHarness harness(2);
  send(harness, 0, 1, 1, 8);
  harness.restart(1);
  progress_until_idle(harness, 1);
  ASSERT_EQ(harness.sink(1).messages.size(), 1u);
}

TEST(BtlShm, a_sleeper_is_woken_by_a_message_through_ingress_and_lane) {
  ShmHarness harness(2);
  constexpr std::uint64_t kMessages = 200;
  harness.endpoint(0, 1);
  std::thread receiver([&] {
    const Deadline deadline = Deadline::after_seconds(60);
    while (harness.sink(1).messages.size() < kMessages && !deadline.passed()) {
      const std::uint32_t value = harness.segment(1).prepare_sleep();
      if (harness.component(1).progress() == 0) harness.segment(1).sleep(value, 60'000'000'000);
      harness.segment(1).cancel_sleep();
    }
  });
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    const Deadline soon = Deadline::after_ns(2'000'000);
    while ((harness.segment(0).slot(1).attention.load() & shm::kAsleep) == 0 && !soon.passed()) {
    }
    EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(i, 30)), Post::done);
  }
  receiver.join();
  ASSERT_EQ(harness.sink(1).messages.size(), kMessages);
}

TEST(BtlShm, begin_sleep_refuses_while_something_is_there) {
  ShmHarness harness(2);
  EXPECT_TRUE(harness.component(1).begin_sleep());
  harness.component(1).end_sleep();
  for (std::uint64_t i = 0; i < 6; ++i) {
    send(harness, 0, 1, i, 8);
    EXPECT_FALSE(harness.component(1).begin_sleep());
    harness.component(1).end_sleep();
    progress_until_idle(harness, 1);
  }
}

TEST(BtlShm, a_process_that_mpiexec_reports_dead_is_lost_once_after_its_last_message) {
  ShmHarness harness(2);
  send(harness, 1, 0, 7, 64);
  harness.endpoint(0, 1);
  harness.segment(0).mark_ended(1);
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.sink(0).lost.empty() && !deadline.passed()) harness.component(0).progress();
  for (int i = 0; i < 100000; ++i) harness.component(0).progress();
  ASSERT_EQ(harness.sink(0).lost.size(), 1u);
  EXPECT_EQ(harness.sink(0).lost[0], (ProcId{0, 1}));
  EXPECT_EQ(harness.sink(0).messages.size(), 1u);
}

TEST(BtlShm, a_process_whose_area_found_no_room_can_be_lost_or_connected_later) {
  ShmHarness harness(3);
  memory_is_full = true;
  for (const std::uint32_t rank : {1u, 2u}) {
    const auto refused = harness.component(0).connect(ProcId{0, rank}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_space);
  }
  memory_is_full = false;
  harness.segment(0).mark_ended(1);
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.sink(0).lost.empty() && !deadline.passed()) harness.component(0).progress();
  ASSERT_EQ(harness.sink(0).lost.size(), 1u);
  EXPECT_EQ(harness.sink(0).lost[0], (ProcId{0, 1}));
  EXPECT_EQ(harness.component(0).counters().endpoints, 0u);
  send(harness, 0, 2, 1, 8);
  progress_until_idle(harness, 2);
  EXPECT_EQ(harness.sink(2).messages.size(), 1u);
  EXPECT_EQ(harness.component(0).counters().endpoints, 1u);
}

TEST(BtlShm, a_process_never_spoken_to_is_lost_too_and_whether_in_order_is_told) {
  ShmHarness harness(3);
  harness.segment(0).slot(1).state.store(static_cast<std::uint32_t>(shm::ProcState::left));
  harness.segment(0).mark_ended(1);
  harness.segment(0).mark_ended(2);
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.sink(0).lost.size() < 2 && !deadline.passed()) harness.component(0).progress();
  ASSERT_EQ(harness.sink(0).lost.size(), 2u);
  EXPECT_EQ(harness.sink(0).lost[0], (ProcId{0, 1}));
  EXPECT_EQ(harness.sink(0).lost[1], (ProcId{0, 2}));
  EXPECT_EQ(harness.sink(0).why_lost[0], Errc::peer_left);
  EXPECT_EQ(harness.sink(0).why_lost[1], Errc::peer_lost);
}

TEST(BtlShm, a_cell_claimed_by_a_dead_process_does_not_block_the_others) {
  ShmHarness harness(3);
  send(harness, 1, 0, 1, 8);
  {
    btl::MappedIngress ingress(harness.segment(0).area(0), harness.segment(0).area_bytes());
    btl::IngressProducer<StdAtomics, btl::MappedIngress> dying(ingress, 2);
    ASSERT_TRUE(dying.claim().ok);
  }
  send(harness, 1, 0, 2, 8);
  for (int i = 0; i < 20000; ++i) harness.component(0).progress();
  EXPECT_EQ(harness.sink(0).messages.size(), 1u) << "its producer may only be slow";
  harness.segment(0).mark_ended(2);
  for (int i = 0; i < 20000; ++i) harness.component(0).progress();
  EXPECT_EQ(harness.sink(0).messages.size(), 2u);
}

TEST(BtlShm, cma_can_be_switched_off) {
  ShmHarness harness(2, {"STARLING_MCA_shm_cma=no", "STARLING_MCA_shm_map=never"});
  EXPECT_FALSE(harness.component(0).limits().can.has(btl::Capability::get));
  EXPECT_FALSE(harness.endpoint(0, 1).can_get({}));
}

TEST(BtlShm, a_refused_probe_is_noted_and_not_repeated) {
  ShmHarness harness(2);
  harness.segment(0).slot(1).pid.store(0x7ffffff0);
  EXPECT_FALSE(harness.endpoint(0, 1).can_get({}));
  harness.segment(0).slot(1).pid.store(static_cast<std::uint32_t>(::getpid()));
  EXPECT_FALSE(harness.endpoint(0, 1).can_get({}));
  EXPECT_EQ(harness.component(0).counters().notes.size(), 1u);
}

/// What the kernel is asked to do with a pid whose process has ended could hit another one's memory.
TEST(BtlShm, nothing_is_written_for_a_process_that_has_ended) {
  struct Told : btl::Completion {
    Told() {
      done = [](btl::Completion* self, bool ok) noexcept {
        auto& told = *static_cast<Told*>(self);
        ++told.times;
        told.good = ok;
      };
    }
    int times = 0;
    bool good = true;
  };
  ShmHarness harness(2);
  std::uint64_t there = 1;
  const std::uint64_t two = 2, three = 3, four = 4;
  const auto address = reinterpret_cast<std::uintptr_t>(&there);
  const auto bytes_of = [](const std::uint64_t& word) { return std::as_bytes(std::span(&word, 1)); };
  btl::Endpoint& endpoint = harness.endpoint(0, 1);
  if (!endpoint.writes()->may_copy()) GTEST_SKIP() << "the kernel copies for nobody here";
  const auto exposed = harness.component(1).expose(std::as_writable_bytes(std::span(&there, 1)));
  ASSERT_TRUE(exposed);
  const auto region = endpoint.remote()->open((*exposed)->key());
  ASSERT_TRUE(region);
  Told told;
  EXPECT_TRUE(endpoint.writes()->copy(address, bytes_of(two)));
  EXPECT_EQ(there, 2u);
  EXPECT_EQ(endpoint.remote()->put(**region, 0, bytes_of(three), &told), Post::done);
  EXPECT_EQ(there, 3u);
  harness.segment(0).mark_ended(1);
  EXPECT_FALSE(endpoint.writes()->copy(address, bytes_of(four)));
  EXPECT_EQ(endpoint.remote()->put(**region, 0, bytes_of(four), &told), Post::posted);
  EXPECT_EQ(told.times, 1);
  EXPECT_FALSE(told.good);
  EXPECT_EQ(there, 3u);
}

TEST(BtlShm, without_a_segment_it_says_so) {
  params::Registry params;
  Collector sink;
  const auto refused = btl::create_shm_component({params, sink, btl::Place{}, nullptr});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unsupported);
}

}  // namespace
}  // namespace starling::test

// SPDX-License-Identifier: BSD-3-Clause
// btl/shm: the process at the other end: asleep, late, dead, or one whose memory nobody may copy.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
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

/// Rank 0, whose lane to 1 is full, goes to sleep for a message of `bytes`; returns the bell from before.
std::uint32_t sleep_for_room(ShmHarness& harness, std::size_t bytes) {
  EXPECT_TRUE(harness.endpoint(0, 1).await_room());
  const std::uint32_t bell = harness.segment(0).prepare_sleep();
  EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(0, bytes)), Post::again);
  return bell;
}

TEST(BtlShmPeer, a_sender_that_sleeps_for_room_is_rung_when_the_reader_gives_some_back) {
  ShmHarness harness(2, {"STARLING_MCA_shm_lane_max=4k"});
  while (harness.endpoint(0, 1).send({}, make_message(0, 200)) == Post::done) {
  }
  const std::uint32_t bell = sleep_for_room(harness, 200);
  EXPECT_EQ(harness.segment(0).slot(0).doorbell.load(), bell);
  progress_until_idle(harness, 1);
  EXPECT_NE(harness.segment(0).slot(0).doorbell.load(), bell);
  EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(0, 200)), Post::done);
}

TEST(BtlShmPeer, a_sender_that_sleeps_for_room_is_rung_by_a_reader_that_is_never_idle) {
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

TEST(BtlShmPeer, a_sender_that_sleeps_for_much_room_is_rung_when_an_idle_reader_gives_back_the_last_cells) {
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

TEST(BtlShmPeer, a_sleeper_that_wants_no_room_is_not_rung_for_it) {
  ShmHarness harness(2);
  for (std::uint64_t i = 0; i < 10; ++i) send(harness, 0, 1, i, 8);
  const std::uint32_t bell = harness.segment(0).prepare_sleep();
  progress_until_idle(harness, 1);
  EXPECT_EQ(harness.segment(0).slot(0).doorbell.load(), bell);
}

TEST(BtlShmPeer, a_message_sent_before_the_peer_has_come_waits_for_it) {
  ShmHarness harness(2);
  send(harness, 0, 1, 1, 8);
  harness.restart(1);
  progress_until_idle(harness, 1);
  ASSERT_EQ(harness.sink(1).messages.size(), 1u);
}

TEST(BtlShmPeer, a_sleeper_is_woken_by_a_message_through_ingress_and_lane) {
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

TEST(BtlShmPeer, begin_sleep_refuses_while_something_is_there) {
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

TEST(BtlShmPeer, a_process_that_mpiexec_reports_dead_is_lost_once_after_its_last_message) {
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

TEST(BtlShmPeer, a_process_whose_area_found_no_room_can_be_lost_or_connected_later) {
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

TEST(BtlShmPeer, a_process_never_spoken_to_is_lost_too_and_whether_in_order_is_told) {
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

TEST(BtlShmPeer, a_cell_claimed_by_a_dead_process_does_not_block_the_others) {
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

TEST(BtlShmPeer, cma_can_be_switched_off) {
  ShmHarness harness(2, {"STARLING_MCA_shm_cma=no", "STARLING_MCA_shm_map=never"});
  EXPECT_FALSE(harness.component(0).limits().can.has(btl::Capability::get));
  EXPECT_FALSE(harness.endpoint(0, 1).can_get({}));
}

TEST(BtlShmPeer, a_refused_probe_is_noted_and_not_repeated) {
  ShmHarness harness(2);
  harness.segment(0).slot(1).pid.store(0x7ffffff0);
  EXPECT_FALSE(harness.endpoint(0, 1).can_get({}));
  harness.segment(0).slot(1).pid.store(static_cast<std::uint32_t>(::getpid()));
  EXPECT_FALSE(harness.endpoint(0, 1).can_get({}));
  EXPECT_EQ(harness.component(0).counters().notes.size(), 1u);
}

/// What the kernel is asked to do with a pid whose process has ended could hit another one's memory.
TEST(BtlShmPeer, nothing_is_written_for_a_process_that_has_ended) {
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

}  // namespace
}  // namespace starling::test

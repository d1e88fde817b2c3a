// SPDX-License-Identifier: BSD-3-Clause
// The node segment: creation and checks, slots, sleeping and waking.

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "frameworks/shm/ends.hpp"
#include "frameworks/shm/params.hpp"
#include "tests/unit/affinity.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling {
namespace {

using shm::NodeSegment;
using shm::ProcState;
using test::join;
using test::make_memfd;
using test::small_geometry;

shm::Segment segment_of(const UniqueFd& memfd, std::size_t bytes) {
  shm::Segment segment;
  segment.fd = UniqueFd(::dup(memfd.get()));
  segment.mapping = std::move(Mapping::map(memfd.get(), bytes)).value();
  return segment;
}

TEST(NodeSegment, is_sparse_and_its_size_is_sealed) {
  const auto geometry = small_geometry(2, 64u << 20);
  const UniqueFd memfd = make_memfd(geometry);
  struct stat facts {};
  ASSERT_EQ(::fstat(memfd.get(), &facts), 0);
  EXPECT_EQ(static_cast<std::size_t>(facts.st_size), geometry.total_bytes());
  EXPECT_LT(facts.st_blocks * 512, 64 * 1024);
  EXPECT_NE(::ftruncate(memfd.get(), 0), 0);
  EXPECT_NE(::ftruncate(memfd.get(), facts.st_size * 2), 0);
}

TEST(NodeSegment, areas_are_zero_and_shared) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment a = join(memfd, geometry, 0);
  NodeSegment b = join(memfd, geometry, 1);
  ASSERT_TRUE(a.reserve_area(1));
  for (std::size_t i = 0; i < b.area_bytes(); ++i) ASSERT_EQ(b.area(1)[i], std::byte{0});
  a.area(1)[5] = std::byte{7};
  EXPECT_EQ(b.area(1)[5], std::byte{7});
  EXPECT_EQ(a.area(1) - a.area(0), static_cast<std::ptrdiff_t>(a.area_bytes()));
}

TEST(NodeSegment, another_geometry_is_refused_by_name) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  auto other = geometry;
  other.area_bytes = 2 * geometry.area_bytes;
  auto size = NodeSegment::open(segment_of(memfd, geometry.total_bytes()), other, 0);
  ASSERT_FALSE(size);
  EXPECT_NE(size.error().text().find("segment's size"), std::string::npos) << size.error().text();
  auto rank = NodeSegment::open(segment_of(memfd, geometry.total_bytes()), geometry, 2);
  ASSERT_FALSE(rank);
  EXPECT_NE(rank.error().text().find("local rank"), std::string::npos) << rank.error().text();
}

TEST(NodeSegment, one_without_a_header_is_refused) {
  const auto geometry = small_geometry(1);
  const UniqueFd memfd(::memfd_create("starling-test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(memfd.get(), static_cast<off_t>(geometry.total_bytes())), 0);
  auto opened = NodeSegment::open(segment_of(memfd, geometry.total_bytes()), geometry, 0);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::bad_input);
}

TEST(NodeSegment, default_geometry_grows_with_the_processes_and_is_capped) {
  params::Registry params;
  ASSERT_TRUE(shm::register_params(params));
  const auto one = shm::geometry_from(params, 1);
  const auto many = shm::geometry_from(params, 4000);
  EXPECT_EQ(one.area_bytes, 16384u);
  EXPECT_EQ(one.arena_bytes, 68u << 20);
  EXPECT_EQ(many.arena_bytes, std::uint64_t{4} << 30);
}

TEST(NodeSegment, a_process_counts_as_alive_until_it_is_known_to_be_dead) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  EXPECT_TRUE(mine.alive(1)) << "not come yet";
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    NodeSegment its = join(memfd, geometry, 1);
    its.enter();
    (void)!::write(go[1], "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(go[0], &byte, 1), 1);
  EXPECT_EQ(mine.slot(1).pid.load(), static_cast<std::uint32_t>(child));
  EXPECT_TRUE(mine.alive(1));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(mine.alive(1));
  mine.slot(1).state.store(static_cast<std::uint32_t>(ProcState::left));
  EXPECT_TRUE(mine.alive(1)) << "left in order";
  EXPECT_EQ(mine.ends(), 0u);
  mine.mark_ended(1);
  EXPECT_TRUE(mine.alive(1)) << "marked by mpiexec after it had left in order";
  EXPECT_EQ(mine.deaths(), 0u);
  mine.slot(1).state.store(static_cast<std::uint32_t>(ProcState::attached));
  mine.mark_ended(1);
  EXPECT_FALSE(mine.alive(1)) << "marked by mpiexec";
  EXPECT_EQ(mine.ends(), 2u);
  EXPECT_EQ(mine.deaths(), 1u);
  ::close(go[0]);
  ::close(go[1]);
}

TEST(NodeSegment, a_death_elsewhere_is_told_and_wakes_until_there_is_no_room) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment launcher = join(memfd, geometry, 0), mine = join(memfd, geometry, 1);
  mine.enter();
  (void)mine.prepare_sleep(shm::kAwaitsNothing);
  EXPECT_EQ(mine.far_deaths(), 0u);
  launcher.tell_far_death(7);
  EXPECT_EQ(mine.slot(1).attention.load() & shm::kAsleep, 0u) << "nobody else would wake it";
  ASSERT_EQ(mine.far_deaths(), 1u);
  EXPECT_EQ(mine.far_death(0), 7u);
  for (std::uint32_t rank = 100; rank < 200; ++rank) launcher.tell_far_death(rank);
  ASSERT_EQ(mine.far_deaths(), shm::kFarDeathsMost);
  EXPECT_EQ(mine.far_death(shm::kFarDeathsMost - 1), 100u + shm::kFarDeathsMost - 2);
  EXPECT_EQ(mine.slot(0).state.load(), 0u) << "nothing but the list is written";
}

TEST(NodeSegment, who_leaves_and_ends_between_two_looks_is_not_dead) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment its = join(memfd, geometry, 1);
  its.enter();
  EXPECT_TRUE(shm::is_alive(its.slot(1), [] { return true; }));
  EXPECT_FALSE(shm::is_alive(its.slot(1), [] { return false; })) << "gone without leaving";
  EXPECT_TRUE(shm::is_alive(its.slot(1), [&] {
    its.leave();
    return false;
  }));
  its.enter();
  EXPECT_FALSE(shm::is_alive(its.slot(1), [&] {
    its.mark_ended(1);
    return false;
  })) << "killed meanwhile";
}

TEST(NodeSegment, ends_in_order_wake_nobody_before_they_are_told) {
  const auto geometry = small_geometry(4);
  const UniqueFd memfd = make_memfd(geometry);
  std::vector<NodeSegment> all;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    all.push_back(join(memfd, geometry, rank));
    all.back().enter();
  }
  const auto asleep = [&](std::uint32_t rank) {
    return (all[0].slot(rank).attention.load() & shm::kAsleep) != 0;
  };
  (void)all[1].prepare_sleep(shm::kAwaitsNothing);
  (void)all[2].prepare_sleep(shm::kAwaitsNoEnd);
  EXPECT_FALSE(shm::mark_left_ended(all[0], 3)) << "it has not left";
  EXPECT_EQ(all[0].ends(), 0u);
  all[3].leave();
  EXPECT_TRUE(shm::mark_left_ended(all[0], 3));
  EXPECT_EQ(all[0].ends(), 1u);
  EXPECT_EQ(all[0].deaths(), 0u);
  EXPECT_TRUE(asleep(1)) << "a thousand that end at once must not wake everybody a thousand times";
  shm::tell_ends(all[0]);
  EXPECT_FALSE(asleep(1));
  EXPECT_TRUE(asleep(2)) << "it waits for processes to come";
  all[0].mark_ended(0);
  EXPECT_FALSE(asleep(2)) << "deaths are told to everybody, at once";
}

TEST(NodeSegment, ring_wakes_a_sleeper_in_another_process) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  ASSERT_TRUE(mine.reserve_area(0));
  auto& message = *reinterpret_cast<std::atomic<std::uint32_t>*>(mine.area(0));
  const pid_t child = ::fork();
  if (child == 0) {
    NodeSegment its = join(memfd, geometry, 1);
    for (;;) {
      const std::uint32_t value = its.prepare_sleep();
      if (reinterpret_cast<std::atomic<std::uint32_t>*>(its.area(0))->load() != 0) _exit(0);
      its.sleep(value, 60'000'000'000);
    }
  }
  while ((mine.slot(1).attention.load() & shm::kAsleep) == 0) std::this_thread::yield();
  message.store(1);
  mine.ring(1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(NodeSegment, ring_of_somebody_awake_changes_nothing) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  mine.ring(1);
  EXPECT_EQ(mine.slot(1).doorbell.load(), 0u);
}

TEST(NodeSegment, a_bell_between_announcing_and_sleeping_is_not_lost) {
  const auto geometry = small_geometry(1);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  const std::uint32_t value = mine.prepare_sleep();
  mine.ring(0);
  const Deadline deadline = Deadline::after_seconds(60);
  mine.sleep(value, 60'000'000'000);
  EXPECT_FALSE(deadline.passed());
  EXPECT_EQ(mine.slot(0).attention.load(), 0u);
}

TEST(NodeSegment, a_sleeper_says_what_it_awaits_besides_messages) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment sleeper = join(memfd, geometry, 0);
  NodeSegment other = join(memfd, geometry, 1);
  EXPECT_FALSE(other.awaits(0, 7)) << "nobody sleeps";
  (void)sleeper.prepare_sleep(7);
  EXPECT_TRUE(other.awaits(0, 7));
  EXPECT_FALSE(other.awaits(0, 8));
  other.ring(0);  // a message wakes all
  EXPECT_FALSE(other.awaits(0, 7));
  EXPECT_EQ(sleeper.slot(0).attention.load() & shm::kSleep, 0u);
  (void)sleeper.prepare_sleep(shm::kAwaitsAll);
  EXPECT_TRUE(other.awaits(0, 7));
  EXPECT_TRUE(other.awaits(0, 8));
  sleeper.cancel_sleep();
  EXPECT_FALSE(other.awaits(0, 8));
  (void)sleeper.prepare_sleep();
  EXPECT_FALSE(other.awaits(0, 7)) << "messages only";
}

TEST(NodeSegment, a_sleeper_learns_that_it_was_woken_from_its_own_core) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment sleeper = join(memfd, geometry, 0);
  NodeSegment ringer = join(memfd, geometry, 1);
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> processors = test::processors();
  ASSERT_FALSE(processors.empty());
  ASSERT_TRUE(test::bind_to(processors[0]));
  EXPECT_FALSE(sleeper.woken_from_own_core()) << "nobody has rung";
  ringer.ring(0);
  EXPECT_FALSE(sleeper.woken_from_own_core()) << "it was awake";
  (void)sleeper.prepare_sleep();
  ringer.ring(0);
  EXPECT_TRUE(sleeper.woken_from_own_core());
  if (processors.size() > 1) {
    ASSERT_TRUE(test::bind_to(processors[1]));
    EXPECT_FALSE(sleeper.woken_from_own_core());
    ASSERT_TRUE(test::bind_to(processors[0]));
  }
  (void)sleeper.prepare_sleep();
  EXPECT_FALSE(sleeper.woken_from_own_core()) << "that was another sleep";
  EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(NodeSegment, a_bell_makes_its_descriptor_readable_until_it_is_silenced) {
  const auto geometry = small_geometry(2);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment sleeper = join(memfd, geometry, 0);
  NodeSegment producer = join(memfd, geometry, 1);
  EXPECT_EQ(sleeper.bell_fd(), -1);
  const auto opened = sleeper.open_bell();
  ASSERT_TRUE(opened) << opened.error().text();
  const auto readable = [&](int limit_ms) {
    pollfd descriptor{sleeper.bell_fd(), POLLIN, 0};
    return ::poll(&descriptor, 1, limit_ms) == 1;
  };
  producer.ring(0);
  EXPECT_FALSE(readable(0)) << "nobody sleeps";
  (void)sleeper.prepare_sleep();
  producer.ring(0);
  EXPECT_TRUE(readable(30'000));
  EXPECT_TRUE(readable(0)) << "another sleeping thread has to see it, too";
  sleeper.silence_bell();
  EXPECT_FALSE(readable(0));
  EXPECT_EQ(sleeper.slot(0).doorbell.load(), 1u) << "threads on the futex are woken as well";
}

TEST(NodeSegment, sleep_ends_at_its_limit) {
  const auto geometry = small_geometry(1);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  mine.sleep(mine.prepare_sleep(), 1'000'000);
  EXPECT_EQ(mine.slot(0).attention.load(), shm::kAsleep) << "other threads may still sleep";
  mine.cancel_sleep();
  EXPECT_EQ(mine.slot(0).attention.load(), 0u);
}

}  // namespace
}  // namespace starling

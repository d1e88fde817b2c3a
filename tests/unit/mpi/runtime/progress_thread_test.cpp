// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/progress_thread.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "mpi/runtime/progress_need.hpp"

namespace starling::mpi {
namespace {

/// Arrivals are counted, and a descriptor is the doorbell.
class Program final : public Served {
 public:
  explicit Program(BigLock& lock) : lock_(lock), bell_(::eventfd(0, EFD_NONBLOCK)) {}

  [[nodiscard]] bool program_waits() const noexcept override { return waiting != 0; }
  [[nodiscard]] std::uint64_t waits() const noexcept override { return waits_; }
  int progress_aside() noexcept override {
    if (!lock_.held_by_me() || waiting != 0) ++wrong;
    const int events = arrived.exchange(0);
    served += events;
    return events;
  }
  [[nodiscard]] Arming arm(int nudge) noexcept override {
    if (!lock_.held_by_me()) ++wrong;
    nudge_ = nudge;
    ++arms;
    if (rings) return Arming::asleep;
    return Arming::nobody_rings;
  }
  bool sleep_armed() noexcept override {
    if (lock_.held_by_me()) ++wrong;
    pollfd descriptors[] = {{bell_.get(), POLLIN, 0}, {nudge_, POLLIN, 0}};
    return ::poll(descriptors, 2, 60'000) > 0;
  }
  void awake() noexcept override {
    std::uint64_t count = 0;
    (void)!::read(bell_.get(), &count, sizeof count);
  }
  void interrupt() noexcept override { ++interrupts; }

  void arrive(int events) {
    arrived += events;
    if (!rings) return;
    const std::uint64_t one = 1;
    (void)!::write(bell_.get(), &one, sizeof one);
  }
  /// The program begins a wait, or ends it.
  void wait(bool begins) {
    lock_.acquire();
    waiting += begins ? 1 : -1;
    waits_ += begins ? 1 : 0;
    lock_.release();
  }

  std::atomic<int> arrived{0}, served{0}, arms{0}, wrong{0}, interrupts{0};
  std::atomic<bool> rings{true};
  int waiting = 0;  // under the lock

 private:
  BigLock& lock_;
  UniqueFd bell_;
  int nudge_ = -1;
  std::uint64_t waits_ = 0;
};

class ProgressThreadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    lock.acquire();
    lock.enable();
    ASSERT_TRUE(thread.start(program));
    lock.release();
  }
  void TearDown() override {
    lock.acquire();
    thread.stop();
    EXPECT_FALSE(thread.running());
    lock.release();
    EXPECT_EQ(program.wrong, 0);
  }
  /// A thread that does not come there makes the test run into its time limit.
  static void until(const std::function<bool()>& holds) {
    while (!holds()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

  BigLock lock;
  Program program{lock};
  ProgressThread thread{lock};
};

TEST_F(ProgressThreadTest, serves_what_arrives_while_the_program_computes) {
  for (int round = 1; round <= 50; ++round) {
    program.arrive(2);
    until([&] { return program.served == 2 * round; });
  }
  EXPECT_EQ(thread.counters().events, 100u);
}

TEST_F(ProgressThreadTest, looks_by_itself_where_nobody_rings) {
  program.rings = false;
  program.arrive(1);
  lock.acquire();  // a call: the thread asks anew
  thread.disarm();
  lock.release();
  until([&] { return program.served == 1; });
  program.arrive(1);
  until([&] { return program.served == 2; });
}

TEST_F(ProgressThreadTest, stays_away_from_a_program_that_waits) {
  const std::uint64_t looks = thread.counters().looks;
  program.wait(true);
  const int before = program.served;
  program.arrive(1);
  until([&] { return thread.counters().looks > looks || thread.counters().wakes > 0; });
  EXPECT_EQ(program.served, before);
  program.wait(false);
  lock.acquire();
  thread.program_left();
  lock.release();
  until([&] { return program.served == before + 1; });
}

TEST_F(ProgressThreadTest, parks_while_a_wait_lasts_and_comes_back_after_it) {
  program.wait(true);
  lock.acquire();
  thread.disarm();
  lock.release();
  // Looks become fewer, and end.
  std::uint64_t looks = 0;
  do {
    looks = thread.counters().looks;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (looks != thread.counters().looks);
  program.wait(false);
  program.arrive(1);
  lock.acquire();
  thread.program_left();
  lock.release();
  until([&] { return program.served == 1; });
  EXPECT_GT(thread.counters().looks, looks);
}

TEST_F(ProgressThreadTest, listens_again_after_the_program_took_the_wake_ups) {
  for (int round = 1; round <= 20; ++round) {
    const int arms = program.arms;
    lock.acquire();
    thread.disarm();
    lock.release();
    program.arrive(1);
    until([&] { return program.served == round && program.arms > arms; });
  }
}

TEST_F(ProgressThreadTest, calls_of_the_program_are_not_held_up) {
  std::uint64_t number = 0;  // guarded by the lock
  for (int call = 0; call < 20'000; ++call) {
    lock.acquire();
    ++number;
    lock.release();
    if (call % 100 == 0) program.arrive(1);
  }
  until([&] { return program.served == 200; });
  EXPECT_EQ(number, 20'000u);
}

TEST_F(ProgressThreadTest, ends_while_it_sleeps_parks_or_works_and_starts_again) {
  for (int round = 0; round < 30; ++round) {
    if (round % 3 == 0) program.wait(true);
    if (round % 3 == 1) program.arrive(1);
    lock.acquire();
    thread.stop();
    ASSERT_TRUE(thread.start(program));
    lock.release();
    if (round % 3 == 0) program.wait(false);
  }
}

TEST_F(ProgressThreadTest, rests_until_it_is_wanted_again) {
  for (int round = 1; round <= 3; ++round) {
    program.arrive(1);
    until([&] { return program.served == 2 * round - 1; });  // and listens, or is about to
    lock.acquire();
    thread.rest();
    lock.release();
    // Looks end, though no wait lasts.
    std::uint64_t looks = 0;
    do {
      looks = thread.counters().looks;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } while (looks != thread.counters().looks);
    const int arms = program.arms;
    program.arrive(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(program.served, 2 * round - 1);
    lock.acquire();
    EXPECT_EQ(program.arms, arms);
    ASSERT_TRUE(thread.start(program));
    lock.release();
    until([&] { return program.served == 2 * round; });
  }
}

TEST_F(ProgressThreadTest, ends_while_it_rests_and_when_a_rest_was_short) {
  for (int round = 0; round < 30; ++round) {
    lock.acquire();
    thread.rest();
    if (round % 2 != 0) ASSERT_TRUE(thread.start(program));
    lock.release();
    if (round % 3 != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    lock.acquire();
    thread.stop();
    EXPECT_FALSE(thread.resting());
    ASSERT_TRUE(thread.start(program));
    lock.release();
  }
}

TEST(ProgressNeeds, tell_each_reason_once) {
  ProgressNeeds needs;
  EXPECT_TRUE(needs.empty());
  const auto first = needs.add("a window");
  const auto second = needs.add("a service");
  const auto third = needs.add("a window");
  EXPECT_EQ(needs.reasons(), (std::vector<std::string>{"a window (2 times)", "a service"}));
  needs.drop(first);
  needs.drop(second);
  EXPECT_EQ(needs.reasons(), (std::vector<std::string>{"a window"}));
  needs.drop(third);
  EXPECT_TRUE(needs.empty());
}

}  // namespace
}  // namespace starling::mpi

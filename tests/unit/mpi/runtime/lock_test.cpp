// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace starling::mpi {
namespace {

constexpr std::uint32_t kThreads = 4;

TEST(BigLock, is_recursive_and_given_away_as_a_whole) {
  BigLock lock;
  EXPECT_EQ(lock.release_all(), 0u);  // not held
  lock.acquire();
  lock.acquire();
  EXPECT_TRUE(lock.held_by_me());
  const std::uint32_t depth = lock.release_all();
  EXPECT_EQ(depth, 2u);
  EXPECT_FALSE(lock.held_by_me());
  lock.reacquire(depth);
  lock.release();
  EXPECT_TRUE(lock.held_by_me());
  lock.release();
  EXPECT_FALSE(lock.held_by_me());
}

TEST(BigLock, is_taken_aside_only_while_nobody_has_or_wants_it) {
  BigLock lock;
  lock.enable();
  lock.acquire();
  EXPECT_EQ(lock.turns(), 1u);
  std::thread([&] { EXPECT_FALSE(lock.try_acquire()); }).join();
  lock.reacquire(lock.release_all());
  EXPECT_EQ(lock.turns(), 2u);
  std::thread waits([&] {
    lock.acquire();
    lock.release();
  });
  while (!lock.contended()) std::this_thread::yield();
  std::thread([&] { EXPECT_FALSE(lock.try_acquire()); }).join();
  lock.release();
  waits.join();
  ASSERT_TRUE(lock.try_acquire());
  EXPECT_TRUE(lock.held_by_me());
  EXPECT_EQ(lock.turns(), 3u);  // it was no turn of the program's
  lock.release();
}

TEST(BigLock, lets_one_in_at_a_time) {
  BigLock lock;
  std::uint64_t number = 0;  // guarded by the lock alone
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20'000; ++round) {
        lock.acquire();
        ++number;
        lock.acquire();  // as a callback does
        ++number;
        lock.reacquire(lock.release_all());
        lock.release();
        lock.release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(number, kThreads * 40'000u);
}

TEST(BigLock, is_taken_in_line_as_by_the_calls) {
  BigLock lock;
  lock.enable();
  for (std::uint32_t i = 0; i < 4 * LockLimits::kLeastStreak; ++i) {
    lock.acquire_hot();
    lock.release_hot();
  }
  EXPECT_EQ(lock.turns(), 4 * LockLimits::kLeastStreak);
  lock.acquire_hot();
  lock.acquire_hot();
  lock.release_hot();
  EXPECT_TRUE(lock.held_by_me());
  std::thread([&] { EXPECT_FALSE(lock.try_acquire()); }).join();
  EXPECT_EQ(lock.release_all(), 1u);
  EXPECT_FALSE(lock.held_by_me());
  // A thread that has no number yet does not take the bias for its own.
  std::thread([&] {
    lock.acquire_hot();
    EXPECT_TRUE(lock.held_by_me());
    lock.release_hot();
    EXPECT_FALSE(lock.held_by_me());
  }).join();
  ASSERT_TRUE(lock.try_acquire());
  lock.release_hot();
}

TEST(BigLock, lets_one_in_at_a_time_who_takes_it_in_line) {
  BigLock lock;
  lock.enable();
  std::uint64_t number = 0;  // guarded by the lock alone
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20'000; ++round) {
        lock.acquire_hot();
        ++number;
        lock.acquire_hot();  // as a callback does
        ++number;
        lock.release_hot();
        lock.release_hot();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(number, kThreads * 40'000u);
}

// Threads that take the lock as often as they can leave turns to one that needs it now and then, also when
// each holds it for longer than anybody's patience.
TEST(BigLock, who_starves_gets_a_turn) {
  BigLock lock;
  std::atomic<bool> stop{false};
  std::vector<std::thread> greedy;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    greedy.emplace_back([&] {
      while (!stop.load()) {
        lock.acquire();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        lock.release();
      }
    });
  }
  for (int turn = 0; turn < 50; ++turn) {
    lock.acquire();
    EXPECT_TRUE(lock.held_by_me());
    lock.release();
  }
  stop = true;
  for (std::thread& thread : greedy) thread.join();
  EXPECT_FALSE(lock.contended());
}

// The thread that takes it again and again gets it without the word; another one takes that away, also while
// the first is inside, and gives it back by its absence.
TEST(BigLock, active_messages_the_only_thread_that_takes_it) {
  BigLock lock;
  lock.enable();
  const auto mine_after = [&](int times) {
    bool mine = false;
    for (int i = 0; i < times; ++i) {
      lock.acquire();
      mine = lock.mine_alone();
      lock.release();
    }
    return mine;
  };
  EXPECT_FALSE(mine_after(1));
  if (!mine_after(100)) GTEST_SKIP() << "this kernel has no membarrier";
  lock.acquire();  // by bias
  std::thread([&] { EXPECT_FALSE(lock.try_acquire()); }).join();
  std::atomic<bool> in{false};
  std::thread other([&] {
    lock.acquire();
    in = true;
    EXPECT_FALSE(lock.mine_alone());
    lock.release();
  });
  while (!lock.contended()) std::this_thread::yield();
  EXPECT_FALSE(in);
  lock.release();
  other.join();
  EXPECT_TRUE(in);
  EXPECT_FALSE(mine_after(1));
  EXPECT_TRUE(mine_after(1000));
}

TEST(BigLock, for_the_end_of_the_process_it_is_waited_for_a_time) {
  BigLock lock;
  lock.enable();
  for (int i = 0; i < 100; ++i) {
    lock.acquire();
    lock.release();
  }
  lock.acquire();
  std::thread([&] { EXPECT_FALSE(lock.acquire_within(1'000'000)); }).join();
  EXPECT_TRUE(lock.held_by_me());
  EXPECT_FALSE(lock.contended());
  lock.release();
  std::thread([&] {
    EXPECT_TRUE(lock.acquire_within(1'000'000));
    lock.release();
  }).join();
}

}  // namespace
}  // namespace starling::mpi

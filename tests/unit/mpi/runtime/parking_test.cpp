// SPDX-License-Identifier: BSD-3-Clause
// Who makes progress, who is called, and when. Layer: tests.

#include "mpi/runtime/parking.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace starling::mpi {
namespace {

struct ParkingTest : ::testing::Test {
  BigLock lock;
  std::uint32_t parked = 1;  ///< and one that is none of this test's
  Parking parking{lock, parked};
  std::atomic<bool> flag{false};
  std::atomic<std::uint32_t> asked{0};

  static bool look(void* context) {
    auto* const test = static_cast<ParkingTest*>(context);
    ++test->asked;
    return test->flag.load();
  }
  [[nodiscard]] Wanted flag_wanted(bool looks) { return {&look, this, looks}; }
  void SetUp() override { lock.enable(); }

  /// Parks in a thread of its own until called; what park() said.
  struct Waiter {
    Waiter(ParkingTest& test, bool looks)
        : thread([this, &test, looks] {
            test.lock.acquire();
            const Wanted wanted = test.flag_wanted(looks);
            driven = test.parking.driven();
            parks = true;  // under the lock: whoever gets it after this finds the thread parked
            there = test.parking.park(wanted);
            test.lock.release();
            called = true;
          }) {}
    void await_parked(BigLock& lock) const {
      while (!parks) std::this_thread::yield();
      lock.acquire();
      lock.release();
    }
    std::atomic<bool> parks{false}, called{false};
    bool there = false, driven = false;
    std::thread thread;
  };
};

TEST_F(ParkingTest, calls_a_thread_whose_flag_is_up_and_no_other_time) {
  lock.acquire();
  const Parking::Driver driver(parking);
  EXPECT_FALSE(parking.driven());  // by another one
  lock.reacquire(lock.release_all());
  const std::uint32_t depth = lock.release_all();
  Waiter waiter(*this, true);
  waiter.await_parked(lock);
  lock.reacquire(depth);
  EXPECT_EQ(parked, 2u);
  parking.call();
  EXPECT_EQ(asked, 1u);
  EXPECT_FALSE(waiter.called);
  flag = true;
  parking.call();
  parking.call();  // it is no longer asked
  EXPECT_EQ(asked, 2u);
  lock.release();
  waiter.thread.join();
  EXPECT_TRUE(waiter.there);
  EXPECT_TRUE(waiter.driven);
  lock.acquire();
  EXPECT_EQ(parked, 1u);
}

TEST_F(ParkingTest, lets_a_thread_look_itself_where_others_may_not) {
  Waiter waiter(*this, false);
  waiter.await_parked(lock);
  lock.acquire();
  parking.call();
  lock.release();
  waiter.thread.join();
  EXPECT_FALSE(waiter.there);
  EXPECT_EQ(asked, 0u);
}

TEST_F(ParkingTest, who_leaves_calls_one_that_makes_progress_next) {
  std::optional<Waiter> first, second;
  lock.acquire();
  {
    const Parking::Driver driver(parking);
    const Parking::Driver nested(parking);  // of a wait inside of the first
    const std::uint32_t depth = lock.release_all();
    first.emplace(*this, true);
    second.emplace(*this, true);
    first->await_parked(lock);
    second->await_parked(lock);
    lock.reacquire(depth);
  }
  lock.release();
  while (!first->called && !second->called) std::this_thread::yield();
  lock.acquire();
  EXPECT_FALSE(parking.driven());
  EXPECT_NE(first->called.load(), second->called.load());
  { const Parking::Driver driver(parking); }
  lock.release();
  first->thread.join();
  second->thread.join();
  EXPECT_FALSE(first->there || second->there);
}

TEST_F(ParkingTest, who_is_called_and_waits_for_nothing_any_more_calls_another_one) {
  std::atomic<int> parks{0}, through{0};
  const auto wait = [&] {
    lock.acquire();
    const Wanted wanted = flag_wanted(false);
    ++parks;
    EXPECT_TRUE(parking.await(wanted));
    lock.release();
    ++through;
  };
  std::thread first, second;
  lock.acquire();
  {
    const Parking::Driver driver(parking);
    const std::uint32_t depth = lock.release_all();
    first = std::thread(wait);
    second = std::thread(wait);
    while (parks != 2) std::this_thread::yield();
    lock.reacquire(depth);
    flag = true;  // what the driver has done last
  }
  lock.release();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (through != 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(through, 2) << "one of them waits for somebody to make progress, and nobody does";
  if (through != 2) {
    lock.acquire();
    { const Parking::Driver driver(parking); }
    lock.release();
  }
  first.join();
  second.join();
}

}  // namespace
}  // namespace starling::mpi

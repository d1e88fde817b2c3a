// SPDX-License-Identifier: BSD-3-Clause
// Whom the agent wakes: a member that sleeps in the queue of a lock has to hear of each change that may let
// it in. The sleeper is this process, which the test puts there by hand. Layer: tests.

#include <gtest/gtest.h>

#include "frameworks/shm/doorbell.hpp"
#include "mpi/onesided/active_messages.hpp"
#include "mpi/onesided/agent.hpp"
#include "mpi/onesided/lock_place.hpp"
#include "tests/unit/mpi/onesided/lone_window.hpp"

namespace starling::mpi::message {
namespace {

class NobodyTold final : public Granted {
 public:
  void on_granted(std::uint32_t) noexcept override { ++granted; }
  void on_holder_died(std::uint32_t, std::uint32_t) noexcept override {}
  int granted = 0;
};

struct Wakes : testing::Test {
  test::LoneWindow window{64};
  Hold lock{registry().lock, Hold::always};
  Win& win = window.win();
  NobodyTold told;
  Agent agent{win, told};
  Control::Lock target = target_lock_of(win, 0).lock;
  Control::Lock node = node_lock_of(win).lock;

  /// Whether it rings for this process, as if that slept.
  template <class Function>
  [[nodiscard]] bool rings(Function&& function) {
    auto& slot = Runtime::get()->place().segment().slot(win.target(0).local_rank);
    const std::uint32_t before = slot.doorbell.load();
    slot.attention.fetch_or(shm::kAsleep);
    function();
    slot.attention.fetch_and(~shm::kAsleep);
    return slot.doorbell.load() != before;
  }
  /// The lock is held while the agent comes; then its holder waits behind the agent.
  void meet(Control::Lock& where, Side side, bool exclusive) {
    ASSERT_TRUE(where.enter(side, false));
    ASSERT_FALSE(agent.take(0, exclusive, false));
    ASSERT_EQ(agent.progress(), 0);
    ASSERT_NE(where.leave(side), Control::Lock::kNobody) << "the agent waits";
    where.queue(Side::shared, false);
  }
};

TEST_F(Wakes, nobody_without_need) {
  EXPECT_FALSE(rings([&] { EXPECT_TRUE(agent.take(0, true, false)); }));
  EXPECT_FALSE(rings([&] { agent.give(true); }));
}

TEST_F(Wakes, who_waits_for_an_exclusive_lock_that_is_given_back) {
  ASSERT_TRUE(agent.take(0, true, false));
  target.queue(Side::shared, false);
  EXPECT_TRUE(rings([&] { agent.give(true); }));
  target.give_up();
  ASSERT_TRUE(agent.take(0, true, false));
  node.queue(Side::shared, false);
  EXPECT_TRUE(rings([&] { agent.give(true); }));
  node.give_up();
}

TEST_F(Wakes, a_target_that_sleeps_for_a_long_list_of_elements) {
  ActiveMessages active_messages(win);
  const std::uint32_t one = 1;
  std::array<ActiveMessageRuns, 1> series{{{0, 0, 1, 1}}};
  const auto ask = [&] {
    EXPECT_FALSE(active_messages.accumulate(0, series, OpCode::replace, Basic::uint32, bytes_of(one).data(),
                                            nullptr, true));
  };
  EXPECT_FALSE(rings(ask));
  series[0].runs = 32;
  std::array<std::uint32_t, 32> many{};
  EXPECT_TRUE(rings([&] {
    EXPECT_FALSE(active_messages.accumulate(0, series, OpCode::replace, Basic::uint32,
                                            std::as_bytes(std::span(many)).data(), nullptr, true));
  }));
}

TEST_F(Wakes, who_waits_for_a_shared_lock_when_the_last_gives_it_back) {
  ASSERT_TRUE(agent.take(0, false, false));
  ASSERT_TRUE(agent.take(1, false, false));
  target.queue(Side::other, false);
  EXPECT_FALSE(rings([&] { agent.give(false); }));
  EXPECT_TRUE(rings([&] { agent.give(false); }));
  target.give_up();
}

TEST_F(Wakes, who_waits_for_the_node_when_the_target_cannot_be_had) {
  ASSERT_TRUE(target.enter(Side::other, false));
  node.queue(Side::shared, false);
  EXPECT_TRUE(rings([&] { EXPECT_FALSE(agent.take(0, true, true)); }));
  agent.forget(0);
  node.give_up();
  (void)target.leave(Side::other);
}

TEST_F(Wakes, the_next_one_when_a_queued_lock_is_taken) {
  meet(target, Side::other, false);
  EXPECT_TRUE(rings([&] { EXPECT_EQ(agent.progress(), 1); }));
  target.give_up();
  agent.give(false);
  meet(node, Side::shared, true);
  EXPECT_TRUE(rings([&] { EXPECT_EQ(agent.progress(), 1); }));
  node.give_up();
  agent.give(true);
  EXPECT_EQ(told.granted, 2);
}

TEST_F(Wakes, the_next_one_when_the_origin_waits_no_longer) {
  meet(target, Side::other, false);
  EXPECT_TRUE(rings([&] { agent.forget(0); }));
  EXPECT_TRUE(target.try_queued(Side::shared)) << "nobody is before it";
  (void)target.leave(Side::shared);
  meet(node, Side::shared, true);
  EXPECT_TRUE(rings([&] { agent.forget(0); }));
  EXPECT_TRUE(node.try_queued(Side::shared));
  (void)node.leave(Side::shared);
}

TEST_F(Wakes, who_waits_for_the_node_when_an_origin_with_half_of_its_locks_ends) {
  ASSERT_TRUE(target.enter(Side::shared, false));
  ASSERT_FALSE(agent.take(0, true, false));
  ASSERT_EQ(agent.progress(), 0);  // it has the node's lock, and waits for the target's
  node.queue(Side::shared, false);
  EXPECT_FALSE(node.try_queued(Side::shared));
  EXPECT_TRUE(rings([&] { agent.forget(0); }));
  EXPECT_TRUE(node.try_queued(Side::shared));
  (void)node.leave(Side::shared);
  (void)target.leave(Side::shared);
}

}  // namespace
}  // namespace starling::mpi::message

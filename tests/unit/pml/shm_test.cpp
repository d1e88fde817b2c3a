// SPDX-License-Identifier: BSD-3-Clause
// Two threads, each with a pml of its own over btl/self and btl/shm on one memfd: what two processes of a
// node do.
#include "plugins/pml/static/policy.hpp"
#include "tests/unit/pml/over_shm.hpp"

namespace starling::pml::test {
namespace {

MakeEngine statically(StaticLarge large) {
  return [large](peer::Peers& peers, const Config& config) {
    StaticConfig chosen;
    chosen.self = config.self;
    chosen.large = large;
    return std::make_unique<Engine>(peers, config, std::make_unique<StaticPolicy>(chosen));
  };
}

void ping_pong(Process& process, int me) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{33}, std::size_t{4096},
                                  std::size_t{4097}, std::size_t{70'000}, std::size_t{3'000'001}}) {
    for (int round = 0; round < 20; ++round) {
      const auto seed = std::uint64_t(round) + bytes;
      if (me == 0) process.wait(*process.start(false, 1, round, filled(bytes, seed)));
      auto receive = process.start(true, 1 - me, round, std::vector<std::byte>(bytes));
      process.wait(*receive);
      ASSERT_EQ(receive->data, filled(bytes, seed));
      if (me == 1) process.wait(*process.start(false, 0, round, filled(bytes, seed)));
    }
  }
}

TEST(OverShm, every_size_goes_there_and_back_by_ring_and_by_get) {
  for (const StaticLarge large : {StaticLarge::ring, StaticLarge::get, StaticLarge::automatic}) {
    Node node(2, statically(large));
    run_both(node, &ping_pong);
    EXPECT_GT(node.engines[0]->counters().rendezvous_sent, 0u);
  }
}

void both_flood(Process& process, int me) {
  std::vector<OpPtr> sends, receives;
  const auto size = [](int i) { return std::size_t(i % 97 == 0 ? 200'000 : i % 13 == 0 ? 3000 : i % 40); };
  for (int i = 0; i < 3000; ++i) {
    sends.push_back(process.start(false, 1 - me, i % 3, filled(size(i), std::uint64_t(i)),
                                  i % 50 == 0 ? Mode::synchronous : Mode::standard));
  }
  for (const int tag : {2, 0, 1}) {
    for (int i = tag; i < 3000; i += 3) {
      receives.push_back(process.start(true, 1 - me, tag, std::vector<std::byte>(size(i))));
      if (i % 7 == 0) process.wait(*receives.back());
    }
  }
  for (const OpPtr& op : sends) process.wait(*op);
  for (const OpPtr& op : receives) process.wait(*op);
  std::size_t at = 0;
  for (const int tag : {2, 0, 1}) {
    for (int i = tag; i < 3000; i += 3) ASSERT_EQ(receives[at++]->data, filled(size(i), std::uint64_t(i)));
  }
}

TEST(OverShm, both_flood_each_other_before_they_receive) {
  for (const StaticLarge large : {StaticLarge::ring, StaticLarge::get}) {
    Node node(2, statically(large));
    run_both(node, &both_flood);
    EXPECT_TRUE(node.engines[0]->pending().empty());
  }
}

void self_and_other(Process& process, int me) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{20'000}, std::size_t{600'000}}) {
    for (const int to : {me, 1 - me}) {
      auto send = process.start(false, to, 1, filled(bytes, 1));
      auto receive = process.start(true, to, 1, std::vector<std::byte>(bytes));
      process.wait(*send);
      process.wait(*receive);
      ASSERT_EQ(receive->data, filled(bytes, 1));
    }
  }
}

TEST(OverShm, messages_to_self_go_through_self) {
  Node node(2, statically(StaticLarge::automatic));
  run_both(node, &self_and_other);
}

}  // namespace
}  // namespace starling::pml::test

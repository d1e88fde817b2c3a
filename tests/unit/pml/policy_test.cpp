// SPDX-License-Identifier: BSD-3-Clause
// pml/static's choice for large messages, and what an engine tells it.
#include "plugins/pml/static/policy.hpp"

#include <functional>

#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

constexpr std::uint64_t kBytes = 64 * 1024;
constexpr unsigned kStretch = StaticPolicy::kStretchBytes / kBytes;  // messages that are timed as one

/// A peer of the node, one over a network, one that nothing can be got from, and this process itself.
class StaticChoice : public ::testing::Test {
 protected:
  StaticChoice()
      : node_(2, with_get(btl::Reach::node)), network_(2, with_get(btl::Reach::network)), without_(2, {}) {
    near.transport = &node_.at(0);
    far.transport = &network_.at(0);
    closed.transport = &without_.at(0);
    self.transport = &node_.at(0);
    near.proc = far.proc = closed.proc = {0, 1};
    self.proc = config.self;
  }
  static PairOptions with_get(btl::Reach reach) {
    PairOptions options;
    options.get = GetMode::done;
    options.reach = reach;
    return options;
  }
  /// Pages can be lent to whoever can be got from, as by btl/shm.
  static LargeReceive receive(const Peer& peer, std::uint64_t bytes, bool both, bool can_get) {
    const unsigned get =
        can_get && peer.transport->limits().can.has(btl::Capability::get) ? 1u << unsigned(Large::get) : 0u;
    const unsigned lend =
        peer.transport->limits().can.has(btl::Capability::get) ? 1u << unsigned(Large::lend) : 0u;
    return {peer, bytes, both, 1u << unsigned(Large::ring) | get | lend};
  }
  Large chosen(StaticPolicy&& policy, const Peer& peer, bool both) {
    return policy.choose(receive(peer, kBytes, both, true)).protocol;
  }
  Large chosen(StaticPolicy& policy, const Peer& peer, bool both = false, bool can_get = true) {
    return policy.choose(receive(peer, kBytes, both, can_get)).protocol;
  }
  /// Receives until none of that kind is timed any more; how many were.
  unsigned try_out(StaticPolicy& policy, bool both, const std::function<std::uint64_t(Large)>& cost) {
    for (unsigned timed = 0; timed < 1000 * kStretch; ++timed) {
      const LargeChoice choice = policy.choose(receive(near, kBytes, both, true));
      if (choice.trial == 0 || StaticPolicy::watched(choice)) return timed;
      policy.took(choice.trial, kBytes, cost(choice.protocol));
    }
    ADD_FAILURE() << "the trial has no end";
    return 0;
  }

 private:
  PairNetwork node_, network_, without_;

 protected:
  Peer near{{0, 1}, 0}, far{{0, 1}, 0}, closed{{0, 1}, 0}, self{{0, 0}, 0};
  StaticConfig config;
};

TEST_F(StaticChoice, parameters_and_place_decide_where_they_can) {
  StaticPolicy automatic(config);
  EXPECT_EQ(chosen(automatic, far), Large::get);
  EXPECT_EQ(chosen(automatic, self), Large::get);
  EXPECT_EQ(chosen(automatic, near, false, false), Large::ring);
  EXPECT_EQ(chosen(automatic, near, true, false), Large::lend);
  EXPECT_EQ(chosen(automatic, far, true), Large::get);
  EXPECT_EQ(chosen(automatic, far, true, false), Large::ring) << "nothing is lent over a network";
  EXPECT_EQ(chosen(automatic, closed, true), Large::ring);
  EXPECT_TRUE(automatic.notes().empty());

  config.large = StaticLarge::get;
  config.get_min = kBytes;
  StaticPolicy get(config);
  EXPECT_EQ(chosen(get, near), Large::get);
  EXPECT_EQ(chosen(get, near, true), Large::get);
  EXPECT_EQ(chosen(get, near, false, false), Large::ring);
  EXPECT_EQ(get.choose(receive(near, kBytes - 1, false, true)).protocol, Large::ring);
  EXPECT_EQ(get.choose(receive(near, kBytes, false, true)).trial, 0u) << "what is fixed is not timed";
  EXPECT_EQ(chosen(get, near, true, false), Large::ring);

  config.large = StaticLarge::ring;
  StaticPolicy ring(config);
  EXPECT_EQ(chosen(ring, near), Large::ring);
  EXPECT_EQ(chosen(ring, near, true), Large::ring);
}

TEST_F(StaticChoice, one_way_the_faster_of_ring_and_get_stays) {
  for (const Large faster : {Large::ring, Large::get}) {
    StaticPolicy policy(config);
    EXPECT_EQ(chosen(policy, near), Large::ring);
    const unsigned timed = try_out(policy, false, [&](Large used) { return used == faster ? 7'000 : 9'000; });
    EXPECT_EQ(timed, 2 * (StaticPolicy::kPace.settling + Trial<2>::kCounting) * kStretch);
    EXPECT_EQ(chosen(policy, near), faster);
    EXPECT_NE(policy.choose(receive(near, 4 * kBytes, false, true)).trial, 0u)
        << "other sizes have their own trial";
  }
}

TEST_F(StaticChoice, after_a_late_sender_the_next_messages_are_got) {
  StaticPolicy policy(config);
  try_out(policy, false, [](Large used) { return used == Large::ring ? 7'000 : 9'000; });
  const auto choose = [&] { return policy.choose(receive(near, kBytes, false, true)); };
  for (const std::uint64_t prompt_ns : {7'000u, 37'900u}) {
    const LargeChoice prompt = choose();
    ASSERT_TRUE(prompt.protocol == Large::ring && StaticPolicy::watched(prompt));
    policy.took(prompt.trial, kBytes, prompt_ns);
  }
  for (const unsigned pause : {16u, 32u}) {
    const LargeChoice late = choose();
    ASSERT_TRUE(late.protocol == Large::ring && StaticPolicy::watched(late));
    policy.took(late.trial, kBytes, 38'100);
    for (unsigned got = 0; got < pause; ++got) ASSERT_EQ(choose().protocol, Large::get) << got;
  }
  policy.took(choose().trial, kBytes, 7'000);
  EXPECT_EQ(choose().protocol, Large::ring);
  near.large.receives = 1;
  EXPECT_EQ(choose().trial, 0u) << "it may wait for the other one";
}

TEST_F(StaticChoice, both_ways_the_faster_of_loan_and_get_stays) {
  for (const Large faster : {Large::lend, Large::get}) {
    StaticPolicy policy(config);
    EXPECT_EQ(chosen(policy, near, true), Large::get);
    try_out(policy, true, [&](Large used) { return used == faster ? 7'000 : 9'000; });
    EXPECT_EQ(chosen(policy, near, true), faster);
    EXPECT_NE(policy.choose(receive(near, kBytes, false, true)).trial, 0u) << "one way is another trial";
    EXPECT_EQ(policy.choose(receive(near, config.lend_min - 1, true, true)).protocol, Large::ring)
        << "too small";
  }
}

TEST_F(StaticChoice, both_ways_a_loan_must_be_clearly_faster_than_a_get) {
  for (const auto& [lent_ns, expected] : {std::pair{9'700, Large::get}, std::pair{9'000, Large::lend}}) {
    StaticPolicy policy(config);
    try_out(policy, true, [ns = lent_ns](Large used) { return used == Large::lend ? ns : 10'000; });
    EXPECT_EQ(chosen(policy, near, true), expected) << lent_ns;
  }
}

TEST_F(StaticChoice, both_ways_the_lower_of_two_decides_and_the_other_does_as_it_does) {
  config.self = {0, 2};  // `near` is the lower one
  StaticPolicy policy(config);
  for (const Large its : {Large::get, Large::lend, Large::get}) {
    near.large.its_protocols.fill(its);
    const LargeChoice choice = policy.choose(receive(near, kBytes, true, true));
    EXPECT_EQ(choice.protocol, its);
    EXPECT_EQ(choice.trial, 0u);
    EXPECT_EQ(chosen(policy, near), Large::ring) << "one way is this process's own business";
    EXPECT_EQ(chosen(policy, near, true, false), Large::lend) << "nothing can be got";
  }
  near.large.its_protocols.fill(Large::ring);
  EXPECT_NE(policy.choose(receive(near, kBytes, true, true)).trial, 0u) << "nothing to follow yet";
  config.self = {0, 0};
  near.large.its_protocols.fill(Large::lend);
  EXPECT_EQ(chosen(StaticPolicy(config), near, true), Large::get) << "this is the lower one";
}

TEST_F(StaticChoice, both_ways_the_other_does_as_it_does_with_messages_of_that_size) {
  config.self = {0, 2};
  StaticPolicy policy(config);
  near.large.its_protocols[SizeClasses::of(kBytes)] = Large::lend;
  near.large.its_protocols[SizeClasses::of(4 * kBytes)] = Large::get;
  EXPECT_EQ(policy.choose(receive(near, kBytes, true, true)).protocol, Large::lend);
  EXPECT_EQ(policy.choose(receive(near, 4 * kBytes, true, true)).protocol, Large::get);
  EXPECT_NE(policy.choose(receive(near, 16 * kBytes, true, true)).trial, 0u) << "nothing to follow yet";
}

TEST_F(StaticChoice, what_ends_in_bursts_is_not_taken_for_fast) {
  StaticPolicy policy(config);
  unsigned at = 0;
  try_out(policy, true, [&](Large used) {
    if (used == Large::get) return 4'000;
    return ++at % 8 == 0 ? 30'000 : 2'000;  // eight are lent, and taken one right after the other
  });
  EXPECT_EQ(chosen(policy, near, true), Large::get);
}

TEST_F(StaticChoice, times_of_a_way_that_is_not_tried_any_more_do_not_count) {
  StaticPolicy policy(config);
  const LargeChoice first = policy.choose(receive(near, kBytes, false, true));
  ASSERT_EQ(first.protocol, Large::ring);
  LargeChoice now = first;
  while (now.protocol == Large::ring) {
    policy.took(now.trial, kBytes, 9'000);
    now = policy.choose(receive(near, kBytes, false, true));
  }
  for (int at = 0; at < 100; ++at) policy.took(first.trial, kBytes, 1);
  try_out(policy, false, [](Large) { return 7'000; });
  EXPECT_EQ(chosen(policy, near), Large::get);
  policy.took(~0u, kBytes, 1);  // of no trial
}

TEST_F(StaticChoice, it_is_tried_again_after_a_while_and_the_notes_say_what_was_found) {
  StaticPolicy policy(config);
  try_out(policy, false, [](Large used) { return used == Large::get ? 7'040 : 9'960; });
  try_out(policy, true, [](Large used) { return used == Large::get ? 20'000 : 5'000; });
  const auto notes = policy.notes();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0], "large messages, tried from 64 KiB: get (ring 6579, get 9309 MB/s)");
  EXPECT_EQ(notes[1],
            "large messages while both sides send, tried from 64 KiB: lend (get 3276, lend 13107 MB/s)");
  unsigned held = 0;
  while (policy.choose(receive(near, kBytes, false, true)).trial == 0) ++held;
  EXPECT_EQ(held + 2, StaticPolicy::kPace.holding);
  EXPECT_EQ(chosen(policy, near), Large::ring) << "it is a new trial";
}

TEST(TimedReceives, each_large_one_is_told_once_with_its_trial) {
  PairOptions options;
  options.get = GetMode::later;
  for (const Large large : {Large::ring, Large::get}) {
    Job job(2, options, large);
    job.policies[1]->tries = 5;
    std::vector<OpPtr> ops;
    for (int tag = 0; tag < 5; ++tag) {
      ops.push_back(job.irecv(1, 0, tag, 300'000));
      ops.push_back(job.isend(0, 1, tag, filled(300'000, std::uint64_t(tag))));
    }
    ops.push_back(job.irecv(1, 0, 9, 8));
    ops.push_back(job.isend(0, 1, 9, filled(8, 1)));  // a small one is nobody's business
    job.settle();
    for (const OpPtr& op : ops) EXPECT_TRUE(op->complete());
    ASSERT_EQ(job.policies[1]->taken.size(), 5u);
    for (const auto& [trial, bytes, ns] : job.policies[1]->taken) {
      EXPECT_EQ(trial, 5u);
      EXPECT_EQ(bytes, 300'000u);
      EXPECT_LT(ns, 10'000'000'000u);
    }
    EXPECT_TRUE(job.policies[0]->taken.empty()) << "sending is not timed";
  }
}

TEST(LargeMessages, who_sends_learns_how_they_are_taken) {
  for (const Large large : {Large::ring, Large::get, Large::lend}) {
    PairOptions options;
    options.get = GetMode::done;
    Config config;
    config.loans = 1;
    Job job(2, options, large, config);
    for (int round = 0; round < 4; ++round) {
      std::vector<OpPtr> ops;
      for (const std::uint32_t me : {0u, 1u}) {
        ops.push_back(job.irecv(me, int(1 - me), 1, 300'000));
        ops.push_back(job.isend(me, int(1 - me), 1, filled(300'000, me)));
      }
      job.settle();
      for (const OpPtr& op : ops) ASSERT_TRUE(op->complete());
    }
    for (const Forced* policy : job.policies) {
      EXPECT_EQ(policy->its_protocol, large);
      EXPECT_EQ(policy->its_of_longer, Large::ring) << "none has been sent";
    }
  }
}

/// A network that leads nowhere, and has something to do or not.
class Busy final : public btl::Component {
 public:
  explicit Busy(bool busy) noexcept : busy_(busy) { limits_.idle_passes = 16; }
  std::string_view name() const noexcept override { return "busy"; }
  const btl::Limits& limits() const noexcept override { return limits_; }
  const btl::Needs& needs() const noexcept override { return needs_; }
  std::vector<std::byte> address() const override { return {}; }
  Result<void> reaches(ProcId) const override { return fail(Errc::unreachable, "busy", "nobody"); }
  Result<btl::Endpoint*> connect(ProcId, std::span<const std::byte>) override {
    return fail(Errc::unreachable, "busy", "nobody");
  }
  Result<std::unique_ptr<btl::Exposed>> expose(std::span<std::byte>) override {
    return fail(Errc::unsupported, "busy", "nothing");
  }
  int progress() noexcept override { return busy_ ? 1 : 0; }
  bool begin_sleep() noexcept override { return !busy_; }
  void end_sleep() noexcept override {}
  int wait_fd() const noexcept override { return -1; }
  bool drained() const noexcept override { return true; }
  void set_idle(bool) noexcept override {}
  Counters counters() const override { return {}; }

 private:
  btl::Limits limits_;
  btl::Needs needs_;
  bool busy_;
};

TEST(Gets, beside_a_network_that_has_something_to_do_a_get_stops_for_a_look) {
  constexpr std::size_t kLong = 1'000'000;  // four times what is copied between two looks
  const auto passes_of = [](bool busy) {
    PairOptions options;
    options.get = GetMode::done;
    Busy network(busy);
    Job job(2, options, Large::get);
    job.at(1).add_transport(network);
    const OpPtr receive = job.irecv(1, 0, 1, kLong);
    const OpPtr send = job.isend(0, 1, 1, filled(kLong, 1));
    unsigned passes = 0;
    while (!receive->complete() && passes < 100) {
      job.at(1).progress();
      ++passes;
    }
    job.settle();
    EXPECT_EQ(receive->data, send->data);
    return passes;
  };
  EXPECT_GE(passes_of(true), passes_of(false) + 3);
}

TEST(Gets, what_a_peer_announced_first_ends_first_in_chunks) {
  PairOptions options;
  options.get = GetMode::done;
  Config config;
  config.get_chunk_bytes = 100'000;
  Job job(2, options, Large::get, config);
  std::vector<OpPtr> receives, sends;
  for (int tag = 0; tag < 3; ++tag) {
    receives.push_back(job.irecv(1, 0, tag, 300'000));
    sends.push_back(job.isend(0, 1, tag, filled(300'000, std::uint64_t(tag))));
  }
  job.at(1).progress();
  for (std::size_t done = 0; done < 3; ++done) {
    for (std::size_t at = 0; at < 3; ++at) EXPECT_EQ(receives[at]->complete(), at < done) << done << at;
    for (int chunk = 0; chunk < 3; ++chunk) job.at(1).progress();
  }
  job.settle();
  for (std::size_t at = 0; at < 3; ++at) {
    EXPECT_TRUE(sends[at]->complete());
    EXPECT_EQ(receives[at]->data, sends[at]->data);
  }
}

}  // namespace
}  // namespace starling::pml::test

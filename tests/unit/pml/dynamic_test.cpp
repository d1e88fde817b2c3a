// SPDX-License-Identifier: BSD-3-Clause
// pml/dynamic between two processes of a node: what is copied by both, and what the choice follows from.
#include "plugins/pml/dynamic/policy.hpp"
#include "tests/unit/pml/over_shm.hpp"

namespace starling::pml::test {
namespace {

constexpr std::size_t kLarge = 400'000;

/// A node of two whose engines are pml/dynamic's.
class Pair {
 public:
  explicit Pair(DynamicConfig chosen = {})
      : node_(2, [&](peer::Peers& peers, const Config& config) {
          chosen.self = config.self;
          auto policy = std::make_unique<DynamicPolicy>(
              chosen, std::make_unique<TrialsFile>("", Findings::Origin{}, false));
          policies.push_back(policy.get());
          Protocols protocols = standard_protocols(config);
          protocols.push_back(std::make_unique<ClaimProtocol>(*policy));
          return std::make_unique<Engine>(peers, config, std::move(policy), std::move(protocols));
        }) {
    for (int me : {0, 1}) {
      out[me] = *node_.memory[me]->allocate(kLarge);
      in[me] = *node_.memory[me]->allocate(kLarge);
    }
  }
  /// Messages from 0 to 1; `late`: the sender does something else meanwhile.
  void send(int messages, std::size_t bytes = kLarge, bool late = false) {
    run_both(node_, [&](Process& process, int me) {
      for (int round = 0; round < messages; ++round) {
        if (me == 0) {
          const auto data = filled(bytes, std::uint64_t(round));
          std::copy(data.begin(), data.end(), out[0]);
          auto op = process.start_in(false, 1, round, out[0], bytes);
          if (late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
          process.wait(*op);
        } else {
          auto op = process.start_in(true, 0, round, in[1], bytes);
          process.wait(*op);
          const auto data = filled(bytes, std::uint64_t(round));
          ASSERT_TRUE(std::equal(data.begin(), data.end(), in[1])) << round;
          ASSERT_EQ(op->status().bytes, bytes);
        }
      }
    });
  }
  void exchange(int messages, std::size_t bytes = kLarge) {
    run_both(node_, [&](Process& process, int me) {
      for (int round = 0; round < messages; ++round) {
        const auto data = filled(bytes, std::uint64_t(round * 2 + me));
        std::copy(data.begin(), data.end(), out[me]);
        auto receive = process.start_in(true, 1 - me, round, in[me], bytes);
        auto send = process.start_in(false, 1 - me, round, out[me], bytes);
        process.wait(*receive);
        process.wait(*send);
        const auto theirs = filled(bytes, std::uint64_t(round * 2 + 1 - me));
        ASSERT_TRUE(std::equal(theirs.begin(), theirs.end(), in[me])) << round;
      }
    });
  }
  std::uint64_t claimed() { return copies(1).opened; }
  const shm::SharedCopies::Counters& copies(int me) {
    const Peer& peer = *node_.contexts[me]->touched(Rank{1 - me})->peer;
    return peer.endpoint->copies().copies->counters();
  }
  std::string notes(int me) {
    std::string all;
    for (const std::string& note : policies[std::size_t(me)]->notes()) all += note + "\n";
    return all;
  }

  std::vector<DynamicPolicy*> policies;
  std::byte* out[2];
  std::byte* in[2];

 private:
  Node node_;
};

DynamicConfig only(DynamicLarge large) {
  DynamicConfig config;
  config.large = large;
  return config;
}

TEST(Dynamic, what_both_can_map_is_claimed) {
  Pair pair(only(DynamicLarge::claim));
  pair.send(50);
  EXPECT_GE(pair.claimed(), 40u) << "the first ones ask for the memory, and some more where that takes long";
  EXPECT_EQ(pair.copies(1).again, 0u);
  // 400,000 bytes in chunks of 102,400, by either side.
  EXPECT_EQ(pair.copies(0).own + pair.copies(1).own, pair.claimed() * 4);
}

TEST(Dynamic, a_late_sender_takes_nothing) {
  Pair pair(only(DynamicLarge::claim));
  pair.send(20, kLarge, true);
  EXPECT_GE(pair.claimed(), 15u);
  EXPECT_EQ(pair.copies(0).own + pair.copies(1).own, pair.claimed() * 4);
}

TEST(Dynamic, both_ways_at_once) {
  Pair pair(only(DynamicLarge::claim));
  pair.exchange(50);
  EXPECT_GE(pair.claimed(), 40u);
}

TEST(Dynamic, every_way_is_tried_and_the_node_learns) {
  Pair pair;
  pair.send(3 * 9 * 3 + 20);  // three messages make a stretch
  EXPECT_NE(pair.notes(1).find("large messages from rank 0, tried from 256 KiB mapped: "), std::string::npos)
      << pair.notes(1);
  for (const char* way : {"claim ", "get ", "ring "})
    EXPECT_NE(pair.notes(1).find(way), std::string::npos) << pair.notes(1);
}

TEST(Dynamic, popcount_begins_with_small_chunks_and_follows_who_took_part) {
  DynamicConfig config;
  config.rule = DynamicRule::popcount;
  Pair pair(config);
  pair.send(60, 300'000);
  EXPECT_GE(pair.claimed(), 50u);
  // The first one of 293 chunks; then one (GET) or two (COOP) for each.
  const std::uint64_t chunks = pair.copies(0).own + pair.copies(1).own;
  EXPECT_GE(chunks, 293 + pair.claimed() - 1);
  EXPECT_LE(chunks, 293 + 2 * (pair.claimed() - 1));
}

TEST(Dynamic, popcount_says_why_it_did_not_apply) {
  DynamicConfig config;
  config.rule = DynamicRule::popcount;
  Pair pair(config);
  std::vector<std::byte> mine(kLarge), theirs(kLarge);
  pair.out[0] = mine.data();
  pair.in[1] = theirs.data();
  pair.send(5);
  EXPECT_EQ(pair.claimed(), 0u);
  EXPECT_NE(pair.notes(1).find("popcount did not apply to 5 messages: their memory is private"),
            std::string::npos)
      << pair.notes(1);
}

/// The receiver takes nothing itself, and invites nobody.
class LeftToTheSender final : public CopyPlan {
 public:
  CopyShape shape(const Peer&, std::uint64_t) noexcept override {
    ++asked;
    return {.chunk_bytes = 0, .receiver_chunks = 0, .invites = false};
  }
  void took_part(const Peer&, std::uint64_t, std::uint64_t) noexcept override {}
  int asked = 0;
};

TEST(Dynamic, a_receiver_does_it_alone_when_its_sender_declines) {
  LeftToTheSender plan;
  Node node(2, [&](peer::Peers& peers, const Config& config) {
    Protocols protocols = standard_protocols(config);
    protocols.push_back(std::make_unique<ClaimProtocol>(plan));
    return std::make_unique<Engine>(peers, config, std::make_unique<Forced>(kClaim), std::move(protocols));
  });
  std::byte* const out = *node.memory[0]->allocate(kLarge);
  std::byte* const in = *node.memory[1]->allocate(kLarge);
  const auto data = filled(kLarge, 7);
  std::copy(data.begin(), data.end(), out);
  Process sender(node, 0), receiver(node, 1);
  const auto pass = [&] {
    for (auto& peers : node.peers) peers->progress();
    std::this_thread::yield();
  };
  const Deadline deadline = Deadline::after_seconds(60);
  OpPtr send, receive;
  // The first messages go another way, while the memory is asked for.
  for (int tag = 0; plan.asked == 0 && !deadline.passed(); ++tag) {
    receive = receiver.start_in(true, 0, tag, in, kLarge);
    send = sender.start_in(false, 1, tag, out, kLarge);
    while (plan.asked == 0 && !(send->complete() && receive->complete()) && !deadline.passed()) pass();
  }
  ASSERT_EQ(plan.asked, 1);
  for (int round = 0; round < 100; ++round) pass();
  EXPECT_FALSE(receive->complete()) << "its chunks are for the sender";
  const wire::Answer decline{{ClaimProtocol::kDecline, 0, 0, 0}, receive->request.order};
  btl::Endpoint& way = *node.contexts[0]->touched(Rank{1})->peer->endpoint;
  while (way.send(wire::bytes_of(decline), {}) == Post::again && !deadline.passed()) pass();
  while (!(send->complete() && receive->complete()) && !deadline.passed()) pass();
  ASSERT_TRUE(receive->complete() && send->complete());
  EXPECT_TRUE(std::equal(data.begin(), data.end(), in));
}

}  // namespace
}  // namespace starling::pml::test

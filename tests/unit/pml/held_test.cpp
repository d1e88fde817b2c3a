// SPDX-License-Identifier: BSD-3-Clause
// Announced messages that the receiver does not match: what they may cost it, and that whoever waits for the
// last of them gets it.
#include <algorithm>
#include <random>

#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

constexpr std::uint32_t kMax = 16;          // announcements that wait at a receiver
constexpr std::uint32_t kBatch = kMax / 4;  // and those that it may ask for beyond them
constexpr std::size_t kLong = 1500;         // is announced

Config with_limit(std::uint32_t most = kMax) {
  Config config;
  config.announced_max = most;
  return config;
}

std::vector<OpPtr> flood(Job& job, std::uint32_t from, int to, int count, std::size_t bytes = kLong) {
  std::vector<OpPtr> sends;
  for (int i = 0; i < count; ++i) sends.push_back(job.isend(from, to, i, filled(bytes, std::uint64_t(i))));
  job.settle();
  return sends;
}

std::uint64_t kept(Job& job, std::uint32_t me) {
  return job[me].counters().unexpected_bytes / std::uint64_t(cost_of(0));
}

void expect_all(const std::vector<OpPtr>& sends) {
  for (const OpPtr& send : sends) {
    ASSERT_TRUE(send->complete());
    ASSERT_EQ(send->status().fault, Fault::none);
  }
}

TEST(Held, a_flood_costs_the_receiver_a_fixed_number_of_announcements) {
  constexpr int kCount = 1000;
  Job job(4, {}, Large::ring, with_limit());
  std::vector<std::vector<OpPtr>> sends;
  for (std::uint32_t from = 1; from < 4; ++from) sends.push_back(flood(job, from, 0, kCount));
  EXPECT_EQ(kept(job, 0), 3 * kMax);
  for (int i = 0; i < kCount; ++i) {
    for (int from = 1; from < 4; ++from) {
      auto receive = job.irecv(0, from, kAnyTagInt, kLong);
      job.settle(2);
      ASSERT_TRUE(receive->complete());
      ASSERT_EQ(to_int(receive->status().tag), i);
      ASSERT_EQ(receive->data, filled(kLong, std::uint64_t(i)));
      ASSERT_LE(kept(job, 0), 3 * kMax);
    }
  }
  for (const auto& all : sends) expect_all(all);
  EXPECT_TRUE(job.drained());
}

TEST(Held, the_default_takes_no_more_memory_than_the_eager_credit) {
  Config config;
  config.unexpected_max = 1;  // the floor of 16 KiB for each pair
  Job job(2, {}, Large::ring, config);
  const auto sends = flood(job, 0, 1, 3000);
  EXPECT_EQ(job[1].counters().unexpected, std::uint64_t(16 * 1024 / cost_of(0)));
  EXPECT_LE(job[1].counters().unexpected_bytes_max, 16 * 1024u);
  EXPECT_FALSE(job.at(0).drained());
  EXPECT_EQ(job[0].pending().size(), 3000u);
}

TEST(Held, the_way_of_blocking_sends_ends_where_the_credit_does) {
  Config config;
  config.unexpected_max = 1;
  Job job(2, {}, Large::ring, config);
  // The first message makes the peers known; it takes its credit with it until it is received.
  auto first = job.isend(0, 1, 1, filled(8, 1));
  job.settle();
  const auto word = filled(8, 2);
  const auto try_send = [&] {
    return job[0].try_send(*job.contexts[0], Rank{1}, Tag{2}, word.data(), word.size());
  };
  std::uint64_t sent = 0;
  for (int i = 0; i < 3000; ++i) {
    if (try_send() == Post::done) ++sent;
    job.settle();
  }
  EXPECT_EQ(sent + 1, std::uint64_t(16 * 1024 / cost_of(8)));
  EXPECT_EQ(job[1].counters().unexpected, sent + 1);
  auto taken = job.irecv(1, 0, 1, 8);
  std::vector<OpPtr> receives;
  for (std::uint64_t i = 0; i < sent; ++i) receives.push_back(job.irecv(1, 0, 2, 8));
  job.settle();
  EXPECT_TRUE(taken->complete() && receives.back()->complete());
  EXPECT_EQ(try_send(), Post::done) << "what was received gives its credit back";
}

TEST(Held, messages_too_long_for_the_credit_count_like_long_ones) {
  Config config = with_limit();
  config.unexpected_max = 1;
  Job job(2, {}, Large::ring, config);
  auto sends = flood(job, 0, 1, 500, 800);
  EXPECT_LE(job[1].counters().unexpected, kMax + std::uint64_t(16 * 1024 / 800));
  for (int i = 0; i < 500; ++i) {
    auto receive = job.irecv(1, 0, kAnyTagInt, 800);
    job.settle(4);
    ASSERT_TRUE(receive->complete());
    ASSERT_EQ(to_int(receive->status().tag), i);
  }
  expect_all(sends);
}

TEST(Held, whoever_wants_the_last_first_gets_it) {
  constexpr int kCount = 500;
  for (const int source : {0, kAny}) {
    Job job(2, {}, Large::ring, with_limit());
    const auto sends = flood(job, 0, 1, kCount);
    for (int i = kCount - 1; i >= 0; --i) {
      auto receive = job.irecv(1, source, i, kLong);
      job.settle(4);
      ASSERT_TRUE(receive->complete()) << i;
      ASSERT_EQ(receive->data, filled(kLong, std::uint64_t(i)));
    }
    expect_all(sends);
    EXPECT_TRUE(job.drained());
  }
}

TEST(Held, the_search_stops_with_the_batch_that_has_it) {
  Job job(2, {}, Large::ring, with_limit());
  const auto sends = flood(job, 0, 1, 500);
  auto receive = job.irecv(1, 0, 100, kLong);
  job.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_LE(kept(job, 1), 100 + kBatch);
}

TEST(Held, a_receive_that_was_posted_before_is_met) {
  Job job(3, {}, Large::ring, with_limit());
  auto named = job.irecv(1, 0, 300, kLong);
  auto any = job.irecv(1, kAny, 400, kLong);
  const auto sends = flood(job, 0, 1, 500);
  ASSERT_TRUE(named->complete() && any->complete());
  EXPECT_EQ(named->data, filled(kLong, 300));
  EXPECT_EQ(any->data, filled(kLong, 400));
  EXPECT_LE(kept(job, 1), 400 + kBatch);
}

TEST(Held, a_probe_finds_what_waits_at_its_sender) {
  for (const bool take : {false, true}) {
    for (const Rank source : {Rank{0}, kAnySource}) {
      Job job(2, {}, Large::ring, with_limit());
      const auto sends = flood(job, 0, 1, 300);
      bool found = false;
      for (int round = 0; round < 10'000 && !found; ++round) {
        found = take ? job[1].mprobe(*job.contexts[1], source, Tag{299}, nullptr) != nullptr
                     : job[1].probe(*job.contexts[1], source, Tag{299}, nullptr);
        job.progress();
      }
      EXPECT_TRUE(found);
    }
  }
}

TEST(Held, the_memory_of_probed_messages_counts_until_they_are_received) {
  Job job(2, {}, Large::ring, with_limit());
  auto sends = flood(job, 0, 1, 100);
  std::vector<Message*> taken;
  for (int round = 0; round < 10'000 && taken.size() < 100; ++round) {
    if (Message* message = job[1].mprobe(*job.contexts[1], Rank{0}, kAnyTag, nullptr))
      taken.push_back(message);
    job.progress();
  }
  ASSERT_EQ(taken.size(), 100u);
  for (int i = 99; i >= 0; --i) {
    auto receive = job.make(1, 0, i, std::vector<std::byte>(kLong));
    job[1].mrecv(taken[std::size_t(i)], receive->request);
    job.settle(4);
    ASSERT_EQ(receive->data, filled(kLong, std::uint64_t(i)));
  }
  expect_all(sends);
}

TEST(Held, another_context_goes_on_and_nothing_overtakes_in_the_same_one) {
  Job job(2, {}, Large::ring, with_limit());
  const ContextId other = ContextId::make(2, 9);
  Context* const contexts[] = {job.open(0, other), job.open(1, other)};
  auto sends = flood(job, 0, 1, 200);
  for (const std::size_t bytes : {std::size_t{8}, kLong}) {
    auto send = job.make(0, 1, 7, filled(bytes, 5));
    send->request.context = contexts[0];
    job[0].isend(send->request);
    auto receive = job.make(1, 0, 7, std::vector<std::byte>(bytes));
    receive->request.context = contexts[1];
    job[1].irecv(receive->request);
    job.settle();
    ASSERT_TRUE(send->complete() && receive->complete());
    EXPECT_EQ(receive->data, filled(bytes, 5));
    EXPECT_LE(kept(job, 1), kMax);
  }
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{200}, "x", 1), Post::again);
  for (int i = 200; i < 400; ++i) {
    sends.push_back(job.isend(0, 1, i, filled(i % 3 == 0 ? 8 : kLong, std::uint64_t(i)),
                              i % 5 == 0 ? Mode::synchronous : Mode::standard));
  }
  for (int i = 0; i < 400; ++i) {
    auto receive = job.irecv(1, 0, kAnyTagInt, kLong);
    job.settle(4);
    ASSERT_TRUE(receive->complete());
    ASSERT_EQ(to_int(receive->status().tag), i);
  }
  expect_all(sends);
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, "x", 1), Post::done);
}

TEST(Held, receives_that_wait_already_hold_nothing_back_for_long) {
  PairOptions options;
  options.capacity = 3;
  options.again_percent = 30;
  Job job(2, options, Large::ring, with_limit());
  std::vector<OpPtr> receives;
  for (int i = 0; i < 400; ++i) receives.push_back(job.irecv(1, 0, i, kLong));
  const auto sends = flood(job, 0, 1, 400);
  expect_all(receives);
  expect_all(sends);
}

TEST(Held, what_is_held_back_is_cancelled_at_once) {
  Job job(2, {}, Large::ring, with_limit());
  auto sends = flood(job, 0, 1, 100);
  for (std::size_t i = kMax; i < sends.size(); i += 2) {
    job[0].cancel(sends[i]->request);
    ASSERT_TRUE(sends[i]->complete());
    ASSERT_TRUE(sends[i]->status().cancelled);
  }
  std::vector<int> got;
  while (got.size() < kMax + (100 - kMax) / 2) {
    auto receive = job.irecv(1, 0, kAnyTagInt, kLong);
    job.settle(4);
    ASSERT_TRUE(receive->complete());
    got.push_back(to_int(receive->status().tag));
    ASSERT_TRUE(got.back() < int(kMax) || got.back() % 2 == 1);
  }
  EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
  // All of a line: the pair is as fast as before.
  sends = flood(job, 0, 1, 100);
  for (const OpPtr& send : sends) job[0].cancel(send->request);
  job.settle();
  for (const OpPtr& send : sends) EXPECT_TRUE(send->complete() && send->status().cancelled);
  EXPECT_EQ(kept(job, 1), 0u);
  EXPECT_TRUE(job.drained());
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, "x", 1), Post::done);
}

/// Nothing else makes the sender look: the receiver asks for no more while what it wants is there.
TEST(Held, an_announcement_that_ends_lets_the_next_one_go) {
  const auto announced = [](Job& job) { return job.network.at(0).sent(std::uint8_t(wire::Kind::rts)); };
  PairOptions options;
  options.get = GetMode::done;
  Job job(2, options, Large::get, with_limit());
  const auto sends = flood(job, 0, 1, 100);
  ASSERT_EQ(announced(job), kMax);
  // Received, without a word from here that the data are wanted.
  std::vector<OpPtr> receives;
  for (int i = 0; i < int(kMax); ++i) receives.push_back(job.irecv(1, 0, i, kLong));
  job.settle();
  for (const OpPtr& receive : receives) ASSERT_TRUE(receive->complete());
  EXPECT_EQ(announced(job), 2 * kMax);
  EXPECT_EQ(kept(job, 1), kMax);
  // Taken back.
  for (std::uint32_t i = kMax; i < 2 * kMax; ++i) job[0].cancel(sends[i]->request);
  job.settle();
  EXPECT_TRUE(sends[kMax]->status().cancelled);
  EXPECT_EQ(announced(job), 3 * kMax);
  // Matched by receives that take none of the bytes.
  for (std::uint32_t i = 2 * kMax; i < 3 * kMax; ++i) receives.push_back(job.irecv(1, 0, int(i), 0));
  job.settle();
  EXPECT_EQ(announced(job), 4 * kMax);
}

TEST(Held, the_receivers_loss_ends_what_is_held_back) {
  Job job(2, {}, Large::ring, with_limit());
  const auto sends = flood(job, 0, 1, 100);
  job.network.at(0).lose(1);
  job.settle();
  for (const OpPtr& send : sends) {
    ASSERT_TRUE(send->complete());
    EXPECT_EQ(send->status().fault, Fault::peer_lost);
  }
  EXPECT_TRUE(job.at(0).drained());
}

TEST(Held, the_senders_loss_is_the_end_of_the_search) {
  Job job(2, {}, Large::ring, with_limit());
  const auto sends = flood(job, 0, 1, 100);
  job.network.at(1).lose(0);
  auto receive = job.irecv(1, 0, 99, kLong);
  job.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_EQ(receive->status().fault, Fault::peer_lost);
}

TEST(Held, nobody_waits_for_the_living_in_a_collective_with_the_dead) {
  Job job(3, {}, Large::ring, with_limit());
  const ContextId id = kWorld.on(Channel::collective);
  for (std::uint32_t rank = 0; rank < 3; ++rank) job.contexts[rank] = job.open(rank, id);
  const auto sends = flood(job, 0, 1, 100);
  job.network.at(0).lose(2);
  job.settle();
  for (const OpPtr& send : sends) EXPECT_TRUE(send->complete());
}

TEST(Held, a_receiver_that_closes_the_context_lets_all_sends_end) {
  for (const bool known : {true, false}) {
    Job job(2, {}, Large::ring, with_limit());
    const ContextId id = ContextId::make(0, 2);
    job.contexts[0] = job.open(0, id);
    Context* mine = known ? job.open(1, id) : nullptr;
    const auto sends = flood(job, 0, 1, 100);
    EXPECT_EQ(kept(job, 1), kMax);
    if (!known) mine = job.open(1, id);
    job[1].close(mine);
    job.settle();
    expect_all(sends);
    EXPECT_TRUE(job.drained());
  }
}

TEST(Held, messages_to_oneself) {
  Job job(1, {}, Large::ring, with_limit());
  const auto sends = flood(job, 0, 0, 200);
  EXPECT_EQ(kept(job, 0), kMax);
  for (int i = 199; i >= 0; --i) {
    auto receive = job.irecv(0, 0, i, kLong);
    job.settle(4);
    ASSERT_EQ(receive->data, filled(kLong, std::uint64_t(i)));
  }
  expect_all(sends);
}

/// Random sends, and receives of any of them that are waited for: each comes, and of a sender no more is kept
/// than the limit, or what was searched past, and a batch.
TEST(Held, random_receivers_keep_no_more_than_they_have_searched_past) {
  constexpr std::uint32_t kSenders = 3;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const std::uint32_t most = 1 + seed % 7;
    PairOptions options;
    options.capacity = 1 + seed * 3;
    options.again_percent = seed % 4 * 15;
    options.delay = seed % 3;
    Job job(kSenders + 1, options, Large::ring, with_limit(most));
    std::mt19937 random(seed);
    std::vector<std::vector<OpPtr>> sends(kSenders + 1);
    std::vector<std::vector<bool>> received(kSenders + 1);
    std::vector<std::size_t> furthest(kSenders + 1);
    const auto receive = [&](std::uint32_t from, std::size_t which) {
      if (received[from][which]) return;
      received[from][which] = true;
      furthest[from] = std::max(furthest[from], which + 1);
      auto op = job.irecv(0, int(from), int(which), kLong);
      job.settle(40);
      ASSERT_TRUE(op->complete());
      ASSERT_EQ(op->data, filled(kLong, which));
    };
    for (int step = 0; step < 600; ++step) {
      const auto from = 1 + std::uint32_t(random() % kSenders);
      if (random() % 3 != 0) {
        const std::size_t number = sends[from].size();
        sends[from].push_back(job.isend(from, 0, int(number), filled(kLong, number)));
        received[from].push_back(false);
      } else if (!sends[from].empty()) {
        ASSERT_NO_FATAL_FAILURE(receive(from, random() % sends[from].size()));
      }
      std::size_t bound = 0;
      for (std::uint32_t at = 1; at <= kSenders; ++at) {
        bound += std::max<std::size_t>(most, furthest[at]) + std::max(most / 4, 1u);
      }
      ASSERT_LE(kept(job, 0), bound);
    }
    for (std::uint32_t from = 1; from <= kSenders; ++from) {
      for (std::size_t at = sends[from].size(); at-- > 0;) ASSERT_NO_FATAL_FAILURE(receive(from, at));
      expect_all(sends[from]);
    }
    EXPECT_EQ(kept(job, 0), 0u);
    EXPECT_TRUE(job.drained());
  }
}

}  // namespace
}  // namespace starling::pml::test

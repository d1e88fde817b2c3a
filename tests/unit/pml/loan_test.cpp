// SPDX-License-Identifier: BSD-3-Clause
// Pages lent by two engines that send to each other at the same time.
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

constexpr auto kLender = std::uint8_t(wire::Kind::lender), kLent = std::uint8_t(wire::Kind::lent);

Job make_job(std::size_t capacity = 64, std::uint32_t loans = 4) {
  PairOptions options;
  options.capacity = capacity;
  Config config;
  config.loans = loans;
  return Job(2, options, Large::lend, config);
}

struct Exchange {
  OpPtr sends[2], receives[2];
  bool complete() const {
    return sends[0]->complete() && sends[1]->complete() && receives[0]->complete() && receives[1]->complete();
  }
};

/// Both receive and send; `late`: process 1 finds the message of process 0 there already.
Exchange exchange(Job& job, std::size_t bytes, int tag, bool late = false,
                  std::size_t room = ~std::size_t{0}) {
  Exchange both;
  room = std::min(room, bytes);
  for (const std::uint32_t me : {0u, 1u}) {
    if (late && me == 1) {
      job.at(1).progress();
      job.at(1).progress();
    }
    both.receives[me] = job.irecv(me, int(1 - me), tag, room);
    both.sends[me] = job.isend(me, int(1 - me), tag, filled(bytes, me + bytes));
  }
  job.settle();
  return both;
}

void expect_whole(const Exchange& both, std::size_t bytes) {
  ASSERT_TRUE(both.complete()) << bytes;
  for (const std::size_t me : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_EQ(both.receives[me]->data, filled(bytes, 1 - me + bytes)) << bytes;
    EXPECT_EQ(both.receives[me]->status().fault, Fault::none);
    EXPECT_EQ(both.sends[me]->status().fault, Fault::none);
  }
}

TEST(Lending, both_lend_once_both_have_sent) {
  for (const bool late : {false, true}) {
    for (const std::size_t capacity : {std::size_t{64}, std::size_t{2}}) {
      Job job = make_job(capacity);
      for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 5000, round, late), 5000);
      EXPECT_EQ(job.network.at(0).sent(kLender), 1u);
      EXPECT_EQ(job.network.at(1).sent(kLender), 1u);
      const std::size_t before[] = {job.network.at(0).sent(kLent), job.network.at(1).sent(kLent)};
      int tag = 10;
      for (const std::size_t bytes : {1025u, 4096u, 70'001u, 262'144u, 262'145u, 524'289u, 1'500'000u}) {
        expect_whole(exchange(job, bytes, ++tag, late), bytes);
      }
      EXPECT_GE(job.network.at(0).sent(kLent), before[0] + 7u) << late;
      EXPECT_GE(job.network.at(1).sent(kLent), before[1] + 7u) << late;
      EXPECT_TRUE(job.drained());
      EXPECT_TRUE(job.notes(0).empty());
    }
  }
}

TEST(Lending, one_way_nothing_is_lent) {
  Job job = make_job();
  for (int round = 0; round < 5; ++round) {
    auto receive = job.irecv(1, 0, 1, 9000);
    auto send = job.isend(0, 1, 1, filled(9000, 1));
    job.settle();
    EXPECT_EQ(receive->data, filled(9000, 1));
  }
  EXPECT_EQ(job.network.at(0).sent(kLender) + job.network.at(1).sent(kLender), 0u);
}

TEST(Lending, who_may_not_lend_goes_on_through_the_ring) {
  Job job = make_job(64, 0);
  for (int round = 0; round < 4; ++round) expect_whole(exchange(job, 90'000, round), 90'000);
  EXPECT_EQ(job.network.at(0).sent(kLender) + job.network.at(1).sent(kLender), 0u);
}

TEST(Lending, more_than_the_window_goes_both_ways_at_once) {
  Job job = make_job(5);
  for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
  std::vector<OpPtr> sends, receives;
  const auto size = [](int i) { return std::size_t(i % 3 == 0 ? 300'000 : i % 3 == 1 ? 2000 : 131'073); };
  for (const std::uint32_t me : {0u, 1u}) {
    for (int i = 0; i < 30; ++i) receives.push_back(job.irecv(me, int(1 - me), i, size(i)));
  }
  for (const std::uint32_t me : {0u, 1u}) {
    for (int i = 0; i < 30; ++i) sends.push_back(job.isend(me, int(1 - me), i, filled(size(i), me + i)));
  }
  job.settle();
  for (const OpPtr& send : sends) EXPECT_TRUE(send->complete());
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(receives[i]->complete());
    ASSERT_EQ(receives[i]->data, filled(size(i % 30), std::uint64_t(i < 30 ? 1 : 0) + i % 30)) << i;
  }
}

TEST(Lending, what_does_not_fit_is_not_lent) {
  Job job = make_job();
  for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{299'999}}) {
    const Exchange both = exchange(job, 300'000, 2, false, room);
    ASSERT_TRUE(both.complete()) << room;
    for (const std::size_t me : {std::size_t{0}, std::size_t{1}}) {
      EXPECT_EQ(both.receives[me]->status().fault, Fault::truncated);
      EXPECT_EQ(both.receives[me]->status().bytes, room);
      const auto whole = filled(300'000, 1 - me + 300'000);
      EXPECT_TRUE(std::equal(both.receives[me]->data.begin(), both.receives[me]->data.end(), whole.begin()));
      EXPECT_EQ(both.sends[me]->status().fault, Fault::none);
    }
  }
  expect_whole(exchange(job, 100'000, 3), 100'000);
}

TEST(Lending, a_layout_on_either_side_goes_through_the_ring) {
  const Strided triples(3, 5);
  Job job = make_job();
  for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
  for (const int sides : {1, 2, 3}) {
    const std::size_t packed = 30'000, spread = packed / 3 * 5;
    OpPtr sends[2], receives[2];
    for (const std::uint32_t me : {0u, 1u}) {
      const auto side = [&](int bit, std::byte with) {
        auto op = job.make(me, int(1 - me), 2, std::vector<std::byte>(sides & bit ? spread : packed, with));
        if (sides & bit) op->request.buffer = {op->data.data(), packed, packed / 3, &triples};
        return op;
      };
      receives[me] = side(1, std::byte{0});
      sends[me] = side(2, std::byte{9});
      job[me].irecv(receives[me]->request);
      job[me].isend(sends[me]->request);
    }
    job.settle();
    for (const std::uint32_t me : {0u, 1u}) {
      ASSERT_TRUE(receives[me]->complete() && sends[me]->complete());
      EXPECT_EQ(std::count(receives[me]->data.begin(), receives[me]->data.end(), std::byte{9}), packed);
    }
  }
}

TEST(Lending, a_send_that_is_being_lent_cannot_be_cancelled) {
  Job job = make_job();
  for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
  auto unwanted = job.isend(0, 1, 7, filled(90'000, 1));
  Exchange both;
  for (const std::uint32_t me : {0u, 1u}) {
    both.receives[me] = job.irecv(me, int(1 - me), 2, 900'000);
    both.sends[me] = job.isend(me, int(1 - me), 2, filled(900'000, me));
  }
  for (int round = 0; round < 3; ++round) {
    for (const std::uint32_t me : {0u, 1u}) job[me].cancel(both.sends[me]->request);
    job.progress();
  }
  job[0].cancel(unwanted->request);
  job.settle();
  ASSERT_TRUE(both.complete() && unwanted->complete());
  EXPECT_TRUE(unwanted->status().cancelled);
  for (const std::uint32_t me : {0u, 1u}) {
    EXPECT_FALSE(both.sends[me]->status().cancelled);
    EXPECT_EQ(both.receives[me]->data, filled(900'000, 1 - me));
  }
}

TEST(Lending, a_loss_in_the_middle_ends_both_directions) {
  for (const int rounds : {0, 1, 2, 3, 4, 5}) {
    Job job = make_job();
    for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
    auto receive = job.irecv(0, 1, 2, 3'000'000);
    auto send = job.isend(0, 1, 2, filled(3'000'000, 1));
    auto other_receive = job.irecv(1, 0, 2, 3'000'000);
    auto other_send = job.isend(1, 0, 2, filled(3'000'000, 2));
    for (int round = 0; round < rounds; ++round) job.progress();
    auto kept = job.isend(1, 0, 3, filled(50'000, 2));
    job.at(1).progress();
    job.network.at(0).lose(1);
    job.at(0).progress();
    job.at(0).progress();
    ASSERT_TRUE(receive->complete() && send->complete()) << rounds;
    EXPECT_EQ(receive->status().fault, Fault::peer_lost);
    EXPECT_EQ(send->status().fault, Fault::peer_lost);
    EXPECT_TRUE(job.at(0).drained());
    job.network.at(1).lose(0);
    job.at(1).progress();
    job.at(1).progress();
    EXPECT_TRUE(other_receive->complete() && other_send->complete() && kept->complete());
  }
}

TEST(Lending, a_borrow_that_fails_half_way_is_an_error_and_nobody_waits) {
  constexpr std::size_t kLentBytes = 512 * 1024, kLong = 900'000, kBehind = 5000;
  Job job = make_job();
  for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
  auto back = job.isend(1, 0, 9, filled(5000, 9));  // 1 sends, too
  auto receive = job.irecv(1, 0, 2, kLong);
  auto behind = job.irecv(1, 0, 3, kBehind);
  auto send = job.isend(0, 1, 2, filled(kLong, 1));
  auto send_behind = job.isend(0, 1, 3, filled(kBehind, 2));
  job.at(1).progress();
  const std::size_t before = job.network.at(0).sent(kLent);
  while (job.at(0).progress() != 0) {
  }
  ASSERT_EQ(job.network.at(0).sent(kLent), before + 2) << "the whole window is lent, in two pieces";
  btl::Loans& loans = *job.contexts[1]->touched(Rank{0})->peer->endpoint->loans();
  ASSERT_TRUE(loans.discard(kLentBytes)) << "what was lent is gone";
  job.settle();
  ASSERT_TRUE(receive->complete() && send->complete());
  EXPECT_EQ(receive->status().fault, Fault::internal);
  ASSERT_TRUE(behind->complete() && send_behind->complete()) << "the next in line waits for the lost pages";
  EXPECT_EQ(behind->status().fault, Fault::internal) << "it had asked for lent pages, too";
  EXPECT_EQ(send_behind->status().fault, Fault::none);
  EXPECT_TRUE(job.notes(1).empty()) << "what is lent after that is no nonsense of the peer's";
  auto receive_back = job.irecv(0, 1, 9, 5000);
  job.settle();
  EXPECT_EQ(receive_back->data, filled(5000, 9));
  for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 70'000, 4), 70'000);
  EXPECT_TRUE(job.drained());
}

TEST(Lending, nobody_sleeps_while_the_way_of_a_receive_is_open) {
  PairOptions options;
  options.rings = true;
  Config config;
  config.loans = 4;
  Job job(2, options, Large::lend, config);
  for (int round = 0; round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
  auto send = job.isend(0, 1, 2, filled(5000, 1));
  job.settle();
  ASSERT_TRUE(job.at(1).may_sleep());
  auto receive = job.irecv(1, 0, 2, 5000);
  EXPECT_FALSE(job.at(1).may_sleep()) << "nobody would ring for what only progress() decides";
  job.at(1).progress();
  EXPECT_TRUE(job.at(1).may_sleep());
  job.settle();
  EXPECT_TRUE(send->complete());
  EXPECT_EQ(receive->data, filled(5000, 1));
}

TEST(Lending, nonsense_of_a_peer_is_dropped_and_noted) {
  const auto bytes = [](const auto& header) {
    const auto span = wire::bytes_of(header);
    return std::vector<std::byte>(span.begin(), span.end());
  };
  const wire::Answer taken{{wire::Kind::taken, 0, 0, 77}, 0};
  const wire::Data lent{{wire::Kind::lent, 0, 0, 500}, 12345};
  const wire::Lender lender{{wire::Kind::lender, 0, 0, 0}, {1, 1}};
  const std::vector<std::byte> all[] = {bytes(taken), bytes(lent), bytes(lender)};
  for (const auto& message : all) {
    for (const bool lending : {false, true}) {
      Job job = make_job();
      for (int round = 0; lending && round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
      job.network.inject(1, 0, message);
      job.settle();
      if (lending || message != all[2]) {
        EXPECT_FALSE(job.notes(0).empty()) << int(message[0]);
      }
      expect_whole(exchange(job, 40'000, 2), 40'000);
    }
  }
}

TEST(Lending, what_is_not_lent_cannot_be_borrowed) {
  struct Case {
    bool lending;
    std::uint64_t offset, bytes;
  };
  for (const auto& [lending, offset, bytes] :
       {Case{false, 0, 9000}, Case{true, 8000, 9000}, Case{true, 9001, 1}, Case{true, 0, 0}}) {
    Job job = make_job();
    for (int round = 0; lending && round < 3; ++round) expect_whole(exchange(job, 5000, 1), 5000);
    auto send = job.isend(0, 1, 7, filled(9000, 1));
    job.settle();
    const wire::Cts borrow{{wire::Kind::borrow, 0, 0, 0}, send->request.order, 1, offset, bytes};
    const auto span = wire::bytes_of(borrow);
    const std::size_t lent = job.network.at(0).sent(kLent);
    job.network.inject(1, 0, {span.begin(), span.end()});
    job.settle();
    EXPECT_FALSE(send->complete());
    EXPECT_EQ(job.network.at(0).sent(kLent), lent) << lending;
    EXPECT_FALSE(job.notes(0).empty());
    auto receive = job.irecv(1, 0, 7, 9000);
    job.settle();
    EXPECT_TRUE(send->complete());
    EXPECT_EQ(receive->data, filled(9000, 1));
  }
}

}  // namespace
}  // namespace starling::pml::test

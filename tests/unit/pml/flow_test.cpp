// SPDX-License-Identifier: BSD-3-Clause
// Memory for messages that nobody has received yet, credit, parked and late messages, control messages.
#include "tests/unit/pml/heard.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

constexpr std::uint64_t kCap = 4 * 1024 * 1024;

TEST(Flow, a_flood_stays_below_the_cap_and_everything_arrives_in_order) {
  constexpr std::uint32_t kSenders = 7;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{200}, std::size_t{1000}}) {
    Config config;
    config.unexpected_max = kCap;
    PairOptions options;
    options.capacity = 1'000'000;
    Job job(kSenders + 1, options, Large::ring, config);
    // Each sender sends as blocking sends do: it stops at the first that does not complete.
    std::size_t sent = 0;
    std::vector<OpPtr> blocked;
    for (std::uint32_t from = 1; from <= kSenders; ++from) {
      for (int i = 0; blocked.size() < from; ++i, ++sent) {
        auto send = job.isend(from, 0, i, filled(bytes, std::uint64_t(i)));
        if (!send->complete()) blocked.push_back(std::move(send));
      }
    }
    job.settle();
    EXPECT_LE(job[0].pool().footprint_max(), kCap + kCap / 5) << bytes;
    EXPECT_GE(job[0].pool().footprint_max(), kCap / 2) << bytes;
    EXPECT_EQ(job[1].counters().credit_stalls, 1u);
    std::vector<int> next(kSenders + 1);
    for (std::size_t received = 0; received < sent; ++received) {
      auto receive = job.irecv(0, kAny, kAnyTagInt, bytes);
      if (received % 500 == 0 || !receive->complete()) job.settle(2);
      ASSERT_TRUE(receive->complete());
      int& order = next[std::size_t(to_int(receive->status().source))];
      ASSERT_EQ(to_int(receive->status().tag), order);
      ASSERT_EQ(receive->data, filled(bytes, std::uint64_t(order++)));
    }
    job.settle();
    for (const OpPtr& send : blocked) ASSERT_TRUE(send->complete());
    std::size_t counted = 0;
    for (std::uint32_t from = 1; from <= kSenders; ++from) {
      const Traffic all = job[from].traffic().at(0).sent;
      EXPECT_EQ(all.ring.count, 1u) << bytes;
      counted += all.eager.count + all.ring.count + all.get.count;
    }
    EXPECT_EQ(counted, sent) << bytes;
    EXPECT_TRUE(job.drained());
    EXPECT_LE(job[0].pool().footprint(), kCap / 4);
    // Credit has come back: a burst is eager again.
    const std::uint64_t before = job[1].counters().rendezvous_sent;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(job.isend(1, 0, 2, filled(bytes, 1))->complete());
    EXPECT_EQ(job[1].counters().rendezvous_sent, before);
    job.settle();
  }
}

TEST(Flow, a_sender_without_credit_does_not_block_a_later_message) {
  // The receiver wants the last message first: a program that is legal whatever the cap.
  Config config;
  config.unexpected_max = 1;  // the floor of 16 KiB per pair
  Job job(2, {}, Large::ring, config);
  std::vector<OpPtr> sends;
  for (int i = 0; i < 500; ++i) {
    sends.push_back(job.isend(0, 1, i, filled(700, std::uint64_t(i))));
    job.progress();
  }
  EXPECT_GT(job[0].counters().credit_stalls, 100u);
  for (int i = 499; i >= 0; --i) {
    auto receive = job.irecv(1, 0, i, 700);
    job.settle(4);
    ASSERT_TRUE(receive->complete()) << i;
    EXPECT_EQ(receive->data, filled(700, std::uint64_t(i)));
  }
  EXPECT_TRUE(job.drained());
}

TEST(Flow, steady_traffic_never_stalls) {
  Config config;
  config.unexpected_max = 1;
  Job job(2, {}, Large::ring, config);
  for (int i = 0; i < 5000; ++i) {
    auto receive = job.irecv(1, 0, 1, 100);
    auto send = job.isend(0, 1, 1, filled(100, 1));
    job.progress();
    job.progress();
    ASSERT_TRUE(receive->complete());
  }
  EXPECT_EQ(job[0].counters().credit_stalls, 0u);
  EXPECT_EQ(job[0].counters().eager_sent, 5000u);
}

TEST(Flow, a_pair_with_unequal_windows_goes_on) {
  Config config;
  config.unexpected_max = 64 * 1024 * 1024;
  Job job(2, {}, Large::ring, config);
  Config small;
  small.self = {0, 0};
  small.world_size = 2;
  small.unexpected_max = 1;
  job.engines[0].reset();
  job.peers[0] = std::make_unique<peer::Peers>();
  job.engines[0] = std::make_unique<Engine>(job.at(0), small, std::make_unique<Forced>(Large::ring));
  job.network.at(0).attach(job.at(0).sink());
  job.at(0).add_transport(job.network.at(0));
  job.contexts[0] = job.open(0, kWorld);
  for (int i = 0; i < 3000; ++i) {
    auto receive = job.irecv(1, 0, 1, 100);
    auto send = job.isend(0, 1, 1, filled(100, 1));
    for (int round = 0; round < 6; ++round) job.progress();
    ASSERT_TRUE(receive->complete());
  }
  EXPECT_GT(job[0].counters().eager_sent, 2900u);
}

TEST(Flow, messages_for_a_context_not_open_yet_are_kept_in_order) {
  Job job(3);
  const ContextId id = ContextId::make(2, 9);
  std::vector<OpPtr> sends;
  for (std::uint32_t from : {0u, 1u}) {
    Context* const context = job.open(from, id);
    for (int i = 0; i < 10; ++i) {
      auto send = job.make(from, 2, 1, filled(i % 3 == 2 ? 4000 : 16, from * 100 + std::uint64_t(i)));
      send->request.context = context;
      send->request.mode = i % 2 == 0 ? Mode::standard : Mode::synchronous;
      job[from].isend(send->request);
      sends.push_back(std::move(send));
    }
  }
  job.settle();
  EXPECT_EQ(job[2].counters().unexpected, 20u);
  Context* const context = job.open(2, id);
  for (int i = 0; i < 10; ++i) {
    for (std::uint32_t from : {0u, 1u}) {
      auto receive = job.make(2, int(from), kAnyTagInt, std::vector<std::byte>(i % 3 == 2 ? 4000 : 16));
      receive->request.context = context;
      job[2].irecv(receive->request);
      job.settle();
      ASSERT_TRUE(receive->complete());
      EXPECT_EQ(receive->data, filled(receive->data.size(), from * 100 + std::uint64_t(i)));
    }
  }
  for (const OpPtr& send : sends) EXPECT_TRUE(send->complete());
}

TEST(Flow, messages_for_a_closed_context_are_dropped_and_their_senders_end) {
  Job job(2);
  const ContextId id = ContextId::make(0, 2);
  Context* const from = job.open(0, id);
  Context* to = job.open(1, id);
  std::vector<OpPtr> sends;
  const auto send = [&](std::size_t bytes, Mode mode) {
    auto op = job.make(0, 1, 1, filled(bytes, 1));
    op->request.context = from;
    op->request.mode = mode;
    job[0].isend(op->request);
    sends.push_back(std::move(op));
  };
  for (const bool late : {false, true}) {
    for (const std::size_t bytes : {std::size_t{10}, std::size_t{5000}}) {
      for (const Mode mode : {Mode::standard, Mode::synchronous}) send(bytes, mode);
    }
    job.settle();
    if (!late) job[1].close(to);
    job.settle();
    for (const OpPtr& op : sends) EXPECT_TRUE(op->complete());
  }
  EXPECT_EQ(job[1].counters().unexpected_bytes, 0u);
  EXPECT_EQ(job[1].counters().unexpected, 4u);
  EXPECT_TRUE(job.drained());
}

TEST(Flow, credit_of_messages_for_a_closed_context_comes_back) {
  Config config;
  config.unexpected_max = 1;  // the floor of 16 KiB per pair
  Job job(2, {}, Large::ring, config);
  std::vector<OpPtr> sends;
  // Dropped when the context is closed, and when they come later: far more than the credit of a pair.
  for (std::uint32_t round = 0; round < 40; ++round) {
    const ContextId id = ContextId::make(0, 2 + round);
    Context* const from = job.open(0, id);
    Context* const to = job.open(1, id);
    for (int i = 0; i < 20; ++i) {
      if (i == 10) job[1].close(to);
      auto op = job.make(0, 1, 1, filled(200, 1));
      op->request.context = from;
      job[0].isend(op->request);
      sends.push_back(std::move(op));
      job.settle(2);
    }
    job.settle();
  }
  for (const OpPtr& op : sends) EXPECT_TRUE(op->complete());
  EXPECT_EQ(job[0].counters().credit_stalls, 0u);
  EXPECT_EQ(job[1].counters().unexpected_bytes, 0u);
}

// Synchronous sends: each is answered by itself. The receiver has matched all when the first answer finds its
// way to the sender full.
TEST(Flow, thousands_of_answers_wait_for_a_peer_that_is_full) {
  constexpr int kMessages = 4000;
  PairOptions options;
  options.capacity = 50;
  Job job(2, options);
  std::vector<OpPtr> receives, sends;
  for (int i = 0; i < kMessages; ++i) receives.push_back(job.irecv(1, 0, i, 8));
  for (int i = 0; i < kMessages; ++i) {
    sends.push_back(job.isend(0, 1, i, filled(8, std::uint64_t(i)), Mode::synchronous));
    job.at(1).progress();
  }
  EXPECT_EQ(job.network.at(1).sent(std::uint8_t(wire::Kind::sync_ack)), options.capacity);
  EXPECT_FALSE(job.at(1).drained());
  // The answers leave in their order, fifty at a time: after each batch fifty more have ended.
  for (std::size_t ended = options.capacity; ended <= kMessages; ended += options.capacity) {
    job.at(0).progress();
    for (std::size_t i = ended - options.capacity; i < ended; ++i) ASSERT_TRUE(sends[i]->complete()) << i;
    ASSERT_TRUE(ended == kMessages || !sends[ended]->complete()) << ended;
    job.at(1).progress();
  }
  EXPECT_EQ(job.network.at(1).sent(std::uint8_t(wire::Kind::sync_ack)), std::size_t(kMessages));
  for (int i = 0; i < kMessages; ++i) ASSERT_EQ(receives[std::size_t(i)]->data, filled(8, std::uint64_t(i)));
  EXPECT_TRUE(job.drained());
}

/// There is room again, and before those that wait have left, there are more answers.
TEST(Flow, no_answer_overtakes_those_that_wait) {
  constexpr std::size_t kRoom = 4;
  PairOptions options;
  options.capacity = kRoom;
  Job job(2, options);
  std::vector<OpPtr> receives, sends;
  const auto send = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const int tag = int(sends.size());
      receives.push_back(job.irecv(1, 0, tag, 8));
      sends.push_back(job.isend(0, 1, tag, filled(8, 1), Mode::synchronous));
    }
  };
  for (int round = 0; round < 2; ++round) {
    send(kRoom);
    job.at(1).progress();  // its answers fill the way back, and then wait
  }
  job.at(0).progress();
  send(2);
  job.at(1).progress();
  job.at(0).progress();
  for (std::size_t i = 0; i < 2 * kRoom; ++i) EXPECT_TRUE(sends[i]->complete()) << i;
  EXPECT_FALSE(sends[2 * kRoom]->complete());
  job.settle();
  for (const OpPtr& one : sends) EXPECT_TRUE(one->complete());
}

TEST(Flow, messages_of_another_port_keep_their_place_among_the_others) {
  PairOptions options;
  options.capacity = 3;
  Job job(2, options);
  Heard heard(job.at(1));
  ASSERT_TRUE(job.at(1).add(heard, kOtherKinds));
  std::vector<OpPtr> sends;
  for (int i = 0; i < 20; ++i) {
    sends.push_back(job.isend(0, 1, i, filled(4, 1)));
    ASSERT_TRUE(job.at(0).send({0, 1}, kOther, std::vector<std::byte>(std::size_t(i), std::byte(i))));
  }
  EXPECT_FALSE(job.drained());
  for (std::size_t seen = 0, round = 0; seen < 20 && round < 1000; ++round) {
    job.progress();
    for (; seen < heard.messages.size(); ++seen) {
      EXPECT_EQ(heard.messages[seen].size(), seen);
      EXPECT_TRUE(job[1].probe(*job.contexts[1], Rank{0}, Tag{std::int32_t(seen)}, nullptr));
    }
  }
  EXPECT_EQ(heard.messages.size(), 20u);
  EXPECT_EQ(heard.last_from, (ProcId{0, 0}));
  EXPECT_FALSE(job.at(0).send({0, 1}, kOther, std::vector<std::byte>(options.message_max + 1)));
  EXPECT_FALSE(job.at(0).send({0, 1}, kOther, std::vector<std::byte>(peer::wire::kPayloadLongMax + 1)));
  job.settle();
  EXPECT_TRUE(job.drained());
}

TEST(Flow, malformed_messages_are_dropped) {
  Job job(2);
  auto receive = job.irecv(1, kAny, kAnyTagInt, 100);
  const auto inject = [&](const auto& header, std::size_t extra = 0) {
    const auto bytes = wire::bytes_of(header);
    std::vector<std::byte> message(bytes.begin(), bytes.end());
    message.resize(message.size() + extra);
    for (std::size_t size = 1; size < message.size(); ++size) {
      job.network.inject(0, 1, {message.begin(), message.begin() + std::ptrdiff_t(size)});
    }
    job.network.inject(0, 1, message);
  };
  for (int kind = 0; kind < 256; ++kind) inject(wire::Prefix{wire::Kind(kind), 0, 0, 0x7fffffff});
  inject(wire::Envelope{{wire::Kind::eager, 0, 0, 64}, kWorld.bits, 1, 0}, 63);  // shorter than it says
  inject(wire::Envelope{{wire::Kind::eager, 0, 0, 0}, kWorld.bits, 1, 1});       // not its rank
  inject(wire::Envelope{{wire::Kind::eager, 0, 0, 0}, kWorld.bits, 1, -5});
  inject(wire::Envelope{{wire::Kind::eager, 0, 0, 0}, kWorld.bits, 1, 99});
  inject(wire::Cts{{wire::Kind::cts, 0, 0, 0}, 77, 1, 0, 10});  // no such transfers
  inject(wire::Data{{wire::Kind::data, 0, 0, 8}, 0x100000000}, 8);
  inject(wire::Answer{{wire::Kind::fin, 0, 0, 0}, 0xffffffffffffffff});
  job.settle();
  EXPECT_FALSE(receive->complete());
  auto send = job.isend(0, 1, 1, filled(100, 1));
  job.settle();
  EXPECT_EQ(receive->data, filled(100, 1));
}

TEST(Flow, a_cts_beyond_the_message_is_refused) {
  Job job(2);
  auto send = job.isend(0, 1, 1, filled(5000, 1));
  job.settle();
  for (const auto& [offset, bytes] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 5001}, {5001, 1}, {4999, 2}, {~std::uint64_t{0}, 2}, {0, 0}}) {
    const wire::Cts cts{{wire::Kind::cts, 0, 0, 0}, 0x100000000, 1, offset, bytes};
    const auto header = wire::bytes_of(cts);
    job.network.inject(1, 0, {header.begin(), header.end()});
  }
  job.settle();
  EXPECT_FALSE(send->complete());
  EXPECT_EQ(job.network.at(0).sent(std::uint8_t(wire::Kind::data)), 0u);
  auto receive = job.irecv(1, 0, 1, 5000);
  job.settle();
  EXPECT_TRUE(send->complete() && receive->complete());
}

TEST(Flow, more_than_is_missing_of_a_message_is_refused) {
  struct Case {
    std::uint64_t offset;
    std::uint32_t bytes;
  };
  for (const auto& [offset, bytes] : {Case{500, 4500},   // within the buffer, but 500 of it have come
                                      Case{4500, 1000},  // as much as is missing, but not there
                                      Case{5001, 0}, Case{~std::uint64_t{0}, 1}}) {
    Job job(2);
    auto receive = job.irecv(1, 0, 1, 5000);
    auto send = job.isend(0, 1, 1, filled(5000, 1));
    job.at(1).progress();  // it asks for all of it; the test answers
    const auto inject = [&](std::uint64_t at, std::uint32_t length) {
      const wire::DataAt header{{{wire::Kind::data_at, 0, 0, length}, receive->request.order}, at};
      const auto span = wire::bytes_of(header);
      std::vector<std::byte> message(span.begin(), span.end());
      message.resize(message.size() + length, std::byte{7});
      job.network.inject(0, 1, message);
      job.at(1).progress();
    };
    inject(0, 1000);
    EXPECT_TRUE(job.notes(1).empty());
    inject(offset, bytes);
    EXPECT_EQ(job.notes(1).size(), 1u) << offset << ", " << bytes;
    EXPECT_FALSE(receive->complete());
    inject(1000, 4000);
    EXPECT_TRUE(receive->complete());
    EXPECT_EQ(receive->data, std::vector<std::byte>(5000, std::byte{7}));
    job.settle();
    EXPECT_TRUE(send->complete());
  }
}

TEST(Flow, an_eager_message_that_waits_for_its_match_cannot_be_asked_for_again) {
  Job job(2);
  auto send = job.isend(0, 1, 1, filled(100, 3), Mode::synchronous);
  job.settle();
  const std::uint64_t id = send->request.order;
  const auto inject = [&](const auto& message) {
    const auto bytes = wire::bytes_of(message);
    job.network.inject(1, 0, {bytes.begin(), bytes.end()});
    job.settle();
    EXPECT_FALSE(send->complete()) << int(message.prefix.kind);
  };
  inject(wire::Cts{{wire::Kind::cts, 0, 0, 0}, id, 1, 0, 100});
  inject(wire::Cts{{wire::Kind::borrow, 0, 0, 0}, id, 1, 0, 100});
  inject(wire::Answer{{wire::Kind::got, 0, 0, 0}, id});
  EXPECT_EQ(job.network.at(0).sent(std::uint8_t(wire::Kind::data)), 0u);
  auto receive = job.irecv(1, 0, 1, 100);
  job.settle();
  ASSERT_TRUE(send->complete() && receive->complete());
  EXPECT_EQ(receive->data, filled(100, 3));
  EXPECT_TRUE(job.drained());
}

}  // namespace
}  // namespace starling::pml::test

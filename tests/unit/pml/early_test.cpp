// SPDX-License-Identifier: BSD-3-Clause
// Long messages that are written to receives that wait: which receives their senders are told of, and that
// nobody writes to a buffer that is not waiting for just this message.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

constexpr std::size_t kLongMessage = 5000;

struct EarlyJob : Job {
  explicit EarlyJob(std::uint32_t size = 2, EarlyPush use = EarlyPush::always, PairOptions options = usual())
      : Job(size, options, Large::ring, config_with(use)) {
    for (std::uint32_t rank = 1; rank < size; ++rank) meet(rank);
  }
  static PairOptions usual() {
    PairOptions options;
    options.writes = options.copies = true;
    return options;
  }
  static Config config_with(EarlyPush use) {
    Config config;
    config.announced_max = 2;
    config.early_push = use;
    return config;
  }
  /// Rank 0 and this one have endpoints to each other.
  void meet(std::uint32_t rank) {
    for (const std::uint32_t to : {0u, rank}) {
      auto send = isend(rank - to, int(to), 9, filled(8, 9));
      auto receive = irecv(to, int(rank - to), 9, 8);
      settle();
      ASSERT_TRUE(send->complete() && receive->complete());
    }
  }
  std::size_t sent(std::uint32_t rank, wire::Kind kind) {
    return network.at(rank).sent(static_cast<std::uint8_t>(kind));
  }
  std::size_t invited(std::uint32_t rank = 1) { return sent(rank, wire::Kind::invite); }
  std::size_t early() { return sent(0, wire::Kind::early); }
  std::size_t announced() { return sent(0, wire::Kind::rts); }
};

TEST(Early, a_long_message_is_written_to_a_receive_that_waits) {
  EarlyJob job;
  auto receive = job.irecv(1, 0, 1, kLongMessage * 2);
  job.settle();
  EXPECT_EQ(job.invited(), 1u);
  auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
  EXPECT_TRUE(send->complete()) << "though the receiver does nothing";
  EXPECT_FALSE(receive->complete());
  job.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_EQ(receive->status().bytes, kLongMessage);
  EXPECT_EQ(receive->status().source, Rank{0});
  EXPECT_EQ(receive->status().tag, Tag{1});
  EXPECT_EQ(receive->status().fault, Fault::none);
  receive->data.resize(kLongMessage);
  EXPECT_EQ(receive->data, filled(kLongMessage, 1));
  EXPECT_EQ(job.early(), 1u);
  EXPECT_EQ(job.announced(), 0u);
}

TEST(Early, rounds_with_changing_buffers_and_a_map) {
  for (const bool copies : {true, false}) {
    PairOptions options = EarlyJob::usual();
    options.copies = copies;
    EarlyJob job(2, EarlyPush::always, options);
    // Without the kernel's copies nothing is told: the receiver cannot know what its peer has mapped.
    for (std::uint64_t round = 0; round < 200; ++round) {
      auto receive = job.irecv(1, 0, 1, kLongMessage);
      job.settle();
      auto send = job.isend(0, 1, 1, filled(kLongMessage, round));
      job.settle();
      ASSERT_TRUE(receive->complete() && send->complete());
      ASSERT_EQ(receive->data, filled(kLongMessage, round));
    }
    EXPECT_EQ(job.early(), copies ? 200u : 0u);
  }
}

TEST(Early, nobody_is_told_of_receives_that_an_earlier_one_may_come_before) {
  for (const int source : {0, kAny}) {
    for (const int tag : {1, kAnyTagInt}) {
      EarlyJob job;
      auto earlier = job.irecv(1, source, tag, 10);  // short: nobody is told of this one
      auto receive = job.irecv(1, 0, 1, kLongMessage);
      EXPECT_EQ(job.invited(), 0u);
      auto send = job.isend(0, 1, 1, filled(10, 1));
      auto other = job.isend(0, 1, 1, filled(kLongMessage, 2));
      job.settle();
      EXPECT_EQ(earlier->data, filled(10, 1));
      EXPECT_EQ(receive->data, filled(kLongMessage, 2));
    }
  }
  EarlyJob job;
  auto earlier = job.irecv(1, kAny, 2, 10);
  auto another = job.irecv(1, 0, 3, 10);
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  EXPECT_EQ(job.invited(), 1u) << "those before have other tags";
  for (Op* const op : {earlier.get(), another.get(), receive.get()}) job[1].cancel(op->request);
}

TEST(Early, nobody_is_told_of_wildcards_short_and_scattered_receives_or_collectives) {
  EarlyJob job;
  std::vector<OpPtr> posted;
  posted.push_back(job.irecv(1, kAny, 1, kLongMessage));
  posted.push_back(job.irecv(1, 0, kAnyTagInt, kLongMessage));
  for (const OpPtr& one : posted) job[1].cancel(one->request);
  posted.push_back(job.irecv(1, 0, 2, 1024));  // the eager limit
  const Strided layout(1, 2);
  posted.push_back(job.make(1, 0, 3, std::vector<std::byte>(2 * kLongMessage)));
  posted.back()->request.buffer = {posted.back()->data.data(), kLongMessage, kLongMessage, &layout};
  job[1].irecv(posted.back()->request);
  Context* const collective = job.open(1, kWorld.on(Channel::collective));
  posted.push_back(job.make(1, 0, 1, std::vector<std::byte>(kLongMessage)));
  posted.back()->request.context = collective;
  job[1].irecv(posted.back()->request);
  EXPECT_EQ(job.invited(), 0u);
  for (const OpPtr& one : posted) job[1].cancel(one->request);
}

/// The sender waits, and nobody looks.
void wait_in_vain(Job& job) {
  job.at(0).progress();
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  job.settle();
}

TEST(Early, off_is_off_and_auto_begins_when_senders_wait) {
  for (const EarlyPush use : {EarlyPush::off, EarlyPush::automatic}) {
    for (const bool waits : {true, false}) {
      EarlyJob job(2, use);
      for (std::uint64_t round = 0; round < 20; ++round) {
        auto receive = job.irecv(1, 0, 1, kLongMessage);
        job.settle();
        auto send = job.isend(0, 1, 1, filled(kLongMessage, round));
        if (waits) wait_in_vain(job);
        // Else the sender computes until its message has been taken.
        while (!receive->complete()) {
          job.at(1).progress();
          if (job.network.at(1).sent(static_cast<std::uint8_t>(wire::Kind::cts)) > round)
            job.at(0).progress();
        }
        job.settle();
        ASSERT_EQ(receive->data, filled(kLongMessage, round));
      }
      EXPECT_EQ(job.early() > 4, use == EarlyPush::automatic && waits);
      EXPECT_EQ(job.invited() > 0, use == EarlyPush::automatic && waits);
      EXPECT_GE(job.announced(), 6u) << "it takes some to know";
    }
  }
}

/// As a program whose sends have been waited for in vain, until they are pushed.
void get_going(EarlyJob& job) {
  for (int round = 0; round < 12; ++round) {
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
    wait_in_vain(job);
    ASSERT_TRUE(receive->complete());
  }
  ASSERT_GT(job.early(), 2u);
}

TEST(Early, auto_tells_of_the_sizes_that_were_waited_for) {
  EarlyJob job(2, EarlyPush::automatic);
  get_going(job);
  const std::size_t told = job.invited();
  auto longer = job.irecv(1, 0, 1, 40'000);
  EXPECT_EQ(job.invited(), told);
  job[1].cancel(longer->request);
  auto shorter = job.irecv(1, 0, 1, kLongMessage);
  EXPECT_EQ(job.invited(), told + 1);
  job[1].cancel(shorter->request);
}

TEST(Early, auto_ends_when_the_sender_has_something_else_to_do) {
  EarlyJob job(2, EarlyPush::automatic);
  get_going(job);
  for (std::uint64_t round = 0; round < 300; ++round) {
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    auto send = job.isend(0, 1, 1, filled(kLongMessage, round));
    for (int passes = 0; passes < 8; ++passes) job.at(1).progress();  // the sender's answer is there
    job.settle();
    ASSERT_EQ(receive->data, filled(kLongMessage, round));
  }
  const std::size_t told = job.invited(), pushed = job.early();
  for (std::uint64_t round = 0; round < 3000; ++round) {
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    auto send = job.isend(0, 1, 1, filled(kLongMessage, round));
    for (int passes = 0; passes < 8; ++passes) job.at(1).progress();
    job.settle();
    ASSERT_EQ(receive->data, filled(kLongMessage, round));
  }
  EXPECT_EQ(job.invited(), told);
  EXPECT_EQ(job.early(), pushed);
}

TEST(Early, receives_that_come_after_their_messages_are_not_told_of) {
  EarlyJob job(2, EarlyPush::automatic);
  for (int round = 0; round < 12; ++round) {
    auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
    wait_in_vain(job);
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    ASSERT_TRUE(receive->complete());
  }
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  EXPECT_EQ(job.invited(), 0u);
  job[1].cancel(receive->request);
}

TEST(Early, a_send_looks_for_an_invitation_that_has_come) {
  EarlyJob job;
  for (std::uint64_t round = 0; round < 3; ++round) {
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    if (round == 0) job.settle();
    auto send = job.isend(0, 1, 1, filled(kLongMessage, round));
    EXPECT_TRUE(send->complete());
    job.settle();
    EXPECT_EQ(receive->data, filled(kLongMessage, round));
  }
  EXPECT_EQ(job.early(), 3u);
}

TEST(SendWaits, say_what_most_waits_for_messages_of_a_size_were) {
  SendWaits waits;
  constexpr std::uint64_t kVain = 200'000, kShort = 5'000;
  for (int sends = 0; sends < 6; ++sends) {
    EXPECT_FALSE(waits.mostly(100'000));
    waits.waited(100'000, kVain);
  }
  EXPECT_TRUE(waits.mostly(100'000));
  EXPECT_FALSE(waits.mostly(1'000'000)) << "other sizes are others";
  for (int sends = 0; sends < 100; ++sends) waits.waited(100'000, kVain);
  waits.waited(100'000, kShort);
  EXPECT_FALSE(waits.mostly(100'000)) << "one short wait ends it";
  waits.waited(100'000, kVain);
  waits.waited(100'000, kVain);
  EXPECT_TRUE(waits.mostly(100'000)) << "and two long ones bring it back";
  waits.waited(100'000, kShort);
  waits.waited(100'000, kShort);
  waits.waited(100'000, kVain);
  EXPECT_FALSE(waits.mostly(100'000));
  for (int sends = 0; sends < 100; ++sends) waits.waited(4'000'000, 900'000);
  EXPECT_FALSE(waits.mostly(4'000'000)) << "as long as a copy takes is not in vain";
}

TEST(SendWaits, are_measured_for_the_first_messages_and_then_for_one_in_eight) {
  unsigned sampled = 0, again = 0;
  for (std::uint64_t number = 0; number < 16; ++number) EXPECT_TRUE(SendWaits::sampled(number));
  for (std::uint64_t number = 1'000'000; number < 1'080'000; ++number) {
    sampled += SendWaits::sampled(number);
    again += SendWaits::sampled_again(number);
    EXPECT_TRUE(SendWaits::sampled(number) || !SendWaits::sampled_again(number));
  }
  EXPECT_NEAR(sampled, 10'000, 500);
  EXPECT_NEAR(again, 2'500, 125);
  // Every second, fourth ... sixteenth message of a program is measured as often as all.
  for (const std::uint64_t stride : {2u, 4u, 8u, 16u}) {
    unsigned of_stride = 0;
    for (std::uint64_t at = 0; at < 10'000; ++at) of_stride += SendWaits::sampled(1'000 + at * stride);
    EXPECT_NEAR(of_stride, 1250, 150) << stride;
  }
}

TEST(Early, a_receive_is_not_told_of_while_another_one_of_its_source_and_context_is) {
  EarlyJob job;
  auto first = job.irecv(1, 0, 1, kLongMessage);
  auto second = job.irecv(1, 0, 2, kLongMessage);
  EXPECT_EQ(job.invited(), 1u);
  job.settle();
  auto b = job.isend(0, 1, 2, filled(kLongMessage, 2));  // not the one that is waited for
  auto a = job.isend(0, 1, 1, filled(kLongMessage, 1));
  job.settle();
  EXPECT_EQ(job.early(), 0u);
  EXPECT_EQ(first->data, filled(kLongMessage, 1));
  EXPECT_EQ(second->data, filled(kLongMessage, 2));
  auto third = job.irecv(1, 0, 1, kLongMessage);
  EXPECT_EQ(job.invited(), 2u) << "the old one is void";
  job[1].cancel(third->request);
}

/// Whatever the sender has sent, and the receiver has not seen when it told of its receive, comes first.
TEST(Early, messages_on_their_way_make_an_invitation_void) {
  for (const std::size_t bytes : {std::size_t{8}, kLongMessage}) {
    for (const int tag : {1, 2}) {
      for (const Mode mode : {Mode::standard, Mode::synchronous}) {
        EarlyJob job;
        auto receive = job.irecv(1, 0, 1, kLongMessage);
        auto first = job.isend(0, 1, tag, filled(bytes, 1), mode);  // the invitation has not come yet
        job.at(0).progress();
        auto second = job.isend(0, 1, 1, filled(kLongMessage, 2));
        job.settle();
        EXPECT_EQ(job.early(), 0u);
        auto other = job.irecv(1, 0, tag == 1 ? 1 : 2, kLongMessage);
        job.settle();
        ASSERT_TRUE(receive->complete() && other->complete() && first->complete() && second->complete());
        OpPtr& of_first = tag == 1 ? receive : other;
        OpPtr& of_second = tag == 1 ? other : receive;
        of_first->data.resize(bytes);
        EXPECT_EQ(of_first->data, filled(bytes, 1));
        EXPECT_EQ(of_second->data, filled(kLongMessage, 2));
      }
    }
  }
}

TEST(Early, messages_sent_after_an_invitation_has_come_make_it_void) {
  for (const std::size_t bytes : {std::size_t{8}, kLongMessage, kLongMessage * 2}) {
    EarlyJob job;
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    auto first = job.isend(0, 1, 2, filled(bytes, 1));
    auto second = job.isend(0, 1, 1, filled(kLongMessage, 2));
    job.settle();
    EXPECT_EQ(job.early(), 0u);
    EXPECT_EQ(receive->data, filled(kLongMessage, 2));
    auto other = job.irecv(1, 0, 2, bytes);
    job.settle();
    EXPECT_EQ(other->data, filled(bytes, 1));
  }
}

TEST(Early, while_a_message_is_unexpected_nothing_is_pushed) {
  EarlyJob job;
  auto unexpected = job.isend(0, 1, 7, filled(8, 7));
  job.settle();
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
  job.settle();
  EXPECT_EQ(receive->data, filled(kLongMessage, 1));
  EXPECT_EQ(job.early(), 0u);
  auto late = job.irecv(1, 0, 7, 8);
  EXPECT_EQ(late->data, filled(8, 7));
}

TEST(Early, a_synchronous_send_ends_with_its_write_since_that_is_its_match) {
  EarlyJob job;
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  auto send = job.isend(0, 1, 1, filled(kLongMessage, 1), Mode::synchronous);
  EXPECT_TRUE(send->complete());
  auto other = job.isend(0, 1, 1, filled(kLongMessage, 2), Mode::synchronous);
  job.settle();
  EXPECT_EQ(receive->data, filled(kLongMessage, 1));
  EXPECT_EQ(job.early(), 1u);
  EXPECT_FALSE(other->complete()) << "nothing waits for this one";
  auto next = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  EXPECT_TRUE(other->complete());
}

TEST(Early, while_messages_are_held_back_nothing_is_pushed) {
  EarlyJob job;
  Context* other[2];
  for (const std::uint32_t rank : {0u, 1u}) other[rank] = job.open(rank, ContextId::make(1, 1));
  std::vector<OpPtr> held;
  for (std::uint64_t at = 0; at < 3; ++at) {
    held.push_back(job.make(0, 1, 1, filled(kLongMessage, at)));
    held.back()->request.context = other[0];
    job[0].isend(held.back()->request);
  }
  job.settle();
  EXPECT_EQ(job.announced(), 2u);
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  EXPECT_EQ(job.invited(), 1u);
  auto send = job.isend(0, 1, 1, filled(kLongMessage, 9));
  EXPECT_EQ(job.early(), 0u);
  for (std::uint64_t at = 0; at < 3; ++at) {
    auto next = job.make(1, 0, 1, std::vector<std::byte>(kLongMessage));
    next->request.context = other[1];
    job[1].irecv(next->request);
    job.settle();
    EXPECT_EQ(next->data, filled(kLongMessage, at));
  }
  EXPECT_EQ(receive->data, filled(kLongMessage, 9));
}

TEST(Early, what_is_too_long_or_scattered_is_announced) {
  EarlyJob job;
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  auto send = job.isend(0, 1, 1, filled(kLongMessage + 1, 1));
  job.settle();
  EXPECT_EQ(receive->status().fault, Fault::truncated);
  EXPECT_EQ(receive->status().bytes, kLongMessage);
  EXPECT_TRUE(send->complete());
  receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  const Strided layout(1, 2);
  send = job.make(0, 1, 1, std::vector<std::byte>(2 * kLongMessage));
  const auto wanted = filled(kLongMessage, 3);
  layout.unpack(send->data.data(), kLongMessage, 0, wanted.data(), kLongMessage);
  send->request.buffer = {send->data.data(), kLongMessage, kLongMessage, &layout};
  job[0].isend(send->request);
  job.settle();
  EXPECT_EQ(receive->data, wanted);
  EXPECT_EQ(job.early(), 0u);
}

TEST(Early, a_cancelled_receive_ends_at_once_and_its_buffer_stays_as_it_was) {
  EarlyJob job;
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  job[1].cancel(receive->request);
  ASSERT_TRUE(receive->complete()) << "whatever its sender does";
  EXPECT_TRUE(receive->status().cancelled);
  auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
  job.settle();
  EXPECT_EQ(receive->data, std::vector<std::byte>(kLongMessage, std::byte{0xcc}));
  auto other = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  EXPECT_EQ(other->data, filled(kLongMessage, 1));
  EXPECT_TRUE(job[1].pending().empty());
  // And a next one is told of.
  auto next = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  auto last = job.isend(0, 1, 1, filled(kLongMessage, 2));
  EXPECT_TRUE(last->complete());
  job.settle();
  EXPECT_EQ(next->data, filled(kLongMessage, 2));
}

TEST(Early, a_cancel_comes_too_late_while_the_sender_writes) {
  EarlyJob job;
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  job.network.before_copy = [&] {
    job[1].cancel(receive->request);
    EXPECT_FALSE(receive->complete());
  };
  auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
  job.network.before_copy = nullptr;
  job[1].cancel(receive->request);
  EXPECT_FALSE(receive->complete()) << "the envelope is on its way";
  job.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_FALSE(receive->status().cancelled);
  EXPECT_EQ(receive->data, filled(kLongMessage, 1));
}

TEST(Early, closing_a_context_waits_for_who_writes_and_stops_who_would) {
  for (const bool writing : {true, false}) {
    EarlyJob job;
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    std::thread closer;
    std::atomic<bool> closed{false};
    const auto close = [&] {
      job[1].close(job.contexts[1]);
      closed = true;
    };
    job.network.before_copy = [&] {
      closer = std::thread(close);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_FALSE(closed);
    };
    if (!writing) close();
    auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
    if (closer.joinable()) closer.join();
    job.network.before_copy = nullptr;
    EXPECT_EQ(receive->data != filled(kLongMessage, 1), !writing);
    EXPECT_TRUE(receive->complete());
    EXPECT_EQ(job.network.permits_of(1)[0] % 4, writing ? 3u : 0u) << "it was not waited in vain";
    job.settle();
    EXPECT_TRUE(send->complete());
    job[0].close(job.contexts[0]);
    EXPECT_TRUE(job.at(1).counters().notes.empty()) << "who was in time is not to blame";
  }
}

TEST(Early, a_lost_sender_or_receiver_leaves_nothing_behind) {
  for (const bool sender : {true, false}) {
    EarlyJob job(3);
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    const std::uint64_t open = job.network.permits_of(1)[0];
    job.network.at(sender ? 1 : 0).lose(sender ? 0 : 1);
    job.settle();
    if (sender) {
      ASSERT_TRUE(receive->complete());
      EXPECT_EQ(receive->status().fault, Fault::peer_lost);
      EXPECT_NE(job.network.permits_of(1)[0], open) << "whoever lives finds it closed";
      auto next = job.irecv(1, 0, 1, kLongMessage);
      EXPECT_EQ(next->status().fault, Fault::peer_lost);
    }
    auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
    job.settle();
    if (!sender) {
      EXPECT_EQ(send->status().fault, Fault::peer_lost);
      job[1].cancel(receive->request);
      EXPECT_TRUE(receive->complete());
    }
    EXPECT_EQ(receive->data, std::vector<std::byte>(kLongMessage, std::byte{0xcc}));
    EXPECT_TRUE(job[1].pending().empty());
  }
}

TEST(Early, a_sender_that_is_lost_while_it_writes_or_before_its_envelope_ends_the_receive) {
  EarlyJob job;
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  // As if it had taken the permit, and died there.
  const std::uint64_t open = job.network.permits_of(1)[0];
  job.network.permits_of(1)[0] = open + 1;
  job[1].cancel(receive->request);
  EXPECT_FALSE(receive->complete());
  job.network.at(1).lose(0);
  job.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_EQ(receive->status().fault, Fault::peer_lost);
}

TEST(Early, what_comes_late_of_a_lost_peer_changes_nothing_for_receives_from_it) {
  EarlyJob job(3, EarlyPush::automatic);
  job.network.at(1).lose(0);
  job.settle();
  auto wild = job.irecv(1, kAny, 1, kLongMessage);
  const wire::Rts late{{{wire::Kind::rts, 0, 0, 0}, kWorld.bits, 1, 0}, kLongMessage, 77, {}};
  const auto bytes = wire::bytes_of(late);
  job.network.inject(0, 1, {bytes.begin(), bytes.end()});
  job.settle();
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  EXPECT_TRUE(receive->complete());
  job[1].cancel(wild->request);
}

TEST(Early, a_message_that_could_not_be_written_comes_another_way) {
  EarlyJob job;
  job.network.copies_fail = true;
  for (std::uint64_t round = 0; round < 5; ++round) {
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    auto send = job.isend(0, 1, 1, filled(kLongMessage, round));
    job.settle();
    ASSERT_TRUE(receive->complete() && send->complete());
    EXPECT_EQ(receive->data, filled(kLongMessage, round));
  }
  EXPECT_EQ(job.early(), 1u) << "the first one says that it failed, and none is tried after it";
}

TEST(Early, a_cancel_during_a_write_that_fails_succeeds) {
  EarlyJob job;
  job.network.copies_fail = true;
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  job.network.before_copy = [&] { job[1].cancel(receive->request); };
  auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
  job.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_TRUE(receive->status().cancelled);
  auto next = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  EXPECT_EQ(next->data, filled(kLongMessage, 1));
}

TEST(Early, probes_see_none_of_it_and_later_wildcards_get_later_messages) {
  EarlyJob job;
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  auto wild = job.irecv(1, kAny, kAnyTagInt, kLongMessage);
  job.settle();
  auto a = job.isend(0, 1, 1, filled(kLongMessage, 1));
  auto b = job.isend(0, 1, 1, filled(kLongMessage, 2));
  auto c = job.isend(0, 1, 1, filled(kLongMessage, 3));
  EXPECT_EQ(job.early(), 1u);
  job.settle();
  EXPECT_EQ(receive->data, filled(kLongMessage, 1));
  EXPECT_EQ(wild->data, filled(kLongMessage, 2));
  Status seen;
  ASSERT_TRUE(job[1].probe(*job.contexts[1], kAnySource, kAnyTag, &seen));
  EXPECT_EQ(seen.bytes, kLongMessage);
  Message* const message = job[1].mprobe(*job.contexts[1], Rank{0}, Tag{1}, &seen);
  ASSERT_NE(message, nullptr);
  EXPECT_FALSE(job[1].probe(*job.contexts[1], kAnySource, kAnyTag, &seen));
  auto last = job.make(1, 0, 1, std::vector<std::byte>(kLongMessage));
  job[1].mrecv(message, last->request);
  job.settle();
  EXPECT_EQ(last->data, filled(kLongMessage, 3));
}

TEST(Early, contexts_and_sources_have_an_invitation_each_until_there_are_no_permits) {
  EarlyJob job(6);
  std::vector<OpPtr> receives;
  for (int from = 1; from < 6; ++from) receives.push_back(job.irecv(0, from, 1, kLongMessage));
  EXPECT_EQ(job.invited(0), 4u) << "as many words as there are";
  job.settle();
  std::vector<OpPtr> sends;
  for (std::uint32_t from = 1; from < 6; ++from)
    sends.push_back(job.isend(from, 0, 1, filled(kLongMessage, from)));
  job.settle();
  for (std::size_t at = 0; at < receives.size(); ++at)
    EXPECT_EQ(receives[at]->data, filled(kLongMessage, at + 1));
  // Void ones give theirs back when others want them.
  receives.clear();
  for (int from = 1; from < 5; ++from) receives.push_back(job.irecv(0, from, 1, kLongMessage));
  EXPECT_EQ(job.invited(0), 8u);
  for (std::uint32_t from = 1; from < 5; ++from) sends.push_back(job.isend(from, 0, 1, filled(8, from)));
  job.settle();
  receives.push_back(job.irecv(0, 5, 1, kLongMessage));
  EXPECT_EQ(job.invited(0), 9u);
  job[0].cancel(receives.back()->request);
}

TEST(Early, a_full_transport_puts_off_the_message_and_what_comes_behind) {
  PairOptions options = EarlyJob::usual();
  options.capacity = 2;
  EarlyJob job(2, EarlyPush::always, options);
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  job.network.options.again_percent = 100;
  auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
  auto behind = job.isend(0, 1, 1, filled(8, 2));
  EXPECT_FALSE(send->complete() || behind->complete());
  job.network.options.again_percent = 0;
  job.settle();
  EXPECT_EQ(receive->data, filled(kLongMessage, 1));
  EXPECT_EQ(job.early(), 1u);
  auto other = job.irecv(1, 0, 1, 8);
  EXPECT_EQ(other->data, filled(8, 2));
}

TEST(Early, an_envelope_counts_only_for_a_receive_that_its_sender_was_told_of) {
  EarlyJob job(3);
  auto receive = job.irecv(1, 0, 1, kLongMessage);
  job.settle();
  const auto inject = [&](std::uint32_t from, std::uint64_t context, int tag, int source,
                          std::uint64_t length, std::uint64_t generation) {
    const wire::Early forged{{{wire::Kind::early, 0, 0, 0}, context, tag, source}, length, generation};
    const auto bytes = wire::bytes_of(forged);
    job.network.inject(from, 1, {bytes.begin(), bytes.end()});
    job.settle();
    EXPECT_FALSE(receive->complete());
  };
  inject(0, kWorld.bits, 1, 0, 100, 0);
  inject(0, kWorld.bits, 1, 0, 100, 2);
  inject(2, kWorld.bits, 1, 0, 100, 1);
  const auto notes = job.notes(1);
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("not told of") != std::string::npos;
  }));
  inject(0, kWorld.bits, 1, 0, 100, 1);  // its place is no longer the next
  job[1].cancel(receive->request);
  ASSERT_TRUE(receive->complete());
  for (const std::uint64_t wrong : {0u, 1u, 2u, 3u}) {
    EarlyJob another(3);
    receive = another.irecv(1, 0, 1, kLongMessage);
    const wire::Early forged{{{wire::Kind::early, 0, 0, 0},
                              kWorld.bits + (wrong == 0 ? 1 : 0),
                              wrong == 1 ? 2 : 1,
                              wrong == 2 ? 2 : 0},
                             wrong == 3 ? kLongMessage + 1 : 100,
                             1};
    const auto bytes = wire::bytes_of(forged);
    another.network.inject(0, 1, {bytes.begin(), bytes.end()});
    another.settle();
    EXPECT_FALSE(receive->complete());
    another[1].cancel(receive->request);
    EXPECT_TRUE(receive->complete());
  }
}

TEST(Early, a_peer_that_is_never_in_time_is_told_seldom) {
  PairOptions options = EarlyJob::usual();
  options.delay = 3;
  Job job(2, options, Large::ring, EarlyJob::config_with(EarlyPush::automatic));
  const auto count = [&](std::uint32_t rank, wire::Kind kind) {
    return job.network.at(rank).sent(static_cast<std::uint8_t>(kind));
  };
  for (int round = 0; round < 1000; ++round) {
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));  // before the invitation can come
    wait_in_vain(job);
    ASSERT_TRUE(receive->complete());
  }
  EXPECT_EQ(count(0, wire::Kind::early), 0u);
  EXPECT_LT(count(1, wire::Kind::invite), 30u);
  for (int round = 0; round < 3000; ++round) {
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    auto send = job.isend(0, 1, 1, filled(kLongMessage, 1));
    wait_in_vain(job);
    ASSERT_TRUE(receive->complete());
  }
  EXPECT_GT(count(0, wire::Kind::early), 1500u) << "found again";
}

}  // namespace
}  // namespace starling::pml::test

// SPDX-License-Identifier: BSD-3-Clause
// Long messages that are written to receives that wait: which receives their senders are told of, and which
// messages go this way.
#include <chrono>
#include <thread>

#include "tests/unit/pml/early_job.hpp"

namespace starling::pml::test {
namespace {

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

/// By what was written early, or by an announcement; a short message tells nobody.
TEST(Early, who_stands_behind_is_told_of_when_the_one_before_has_matched) {
  for (const bool early : {true, false}) {
    EarlyJob job;
    auto first = job.irecv(1, 0, 1, early ? kLongMessage : 1000);
    auto second = job.irecv(1, 0, 1, kLongMessage);
    auto third = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    std::uint64_t told = early ? 1 : 0;
    ASSERT_EQ(job.invited(), told);
    auto a = job.isend(0, 1, 1, filled(early ? kLongMessage : 1000, 1));
    job.settle();
    ASSERT_TRUE(first->complete());
    if (!early) {
      ASSERT_EQ(job.invited(), told);
      auto b = job.isend(0, 1, 1, filled(kLongMessage, 2));
      job.settle();
      ASSERT_TRUE(second->complete());
    }
    ASSERT_EQ(job.invited(), ++told);
    auto c = job.isend(0, 1, 1, filled(kLongMessage, 3));
    EXPECT_TRUE(c->complete()) << "though the receiver does nothing";
    job.settle();
    EXPECT_EQ((early ? second : third)->data, filled(kLongMessage, 3));
    if (early) job[1].cancel(third->request);
  }
}

TEST(Early, nobody_is_told_of_who_still_stands_behind_another) {
  for (const int source : {0, kAny}) {
    EarlyJob job;
    auto first = job.irecv(1, 0, 1, kLongMessage);
    auto wild = job.irecv(1, source, kAnyTagInt, kLongMessage);
    auto behind = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    EXPECT_EQ(job.invited(), 1u);
    auto a = job.isend(0, 1, 1, filled(kLongMessage, 1));
    job.settle();
    ASSERT_TRUE(first->complete());
    EXPECT_EQ(job.invited(), 1u);
    auto b = job.isend(0, 1, 1, filled(kLongMessage, 2));
    auto c = job.isend(0, 1, 1, filled(kLongMessage, 3));
    job.settle();
    EXPECT_EQ(wild->data, filled(kLongMessage, 2));
    EXPECT_EQ(behind->data, filled(kLongMessage, 3));
  }
}

TEST(Early, a_wildcard_that_came_later_is_in_nobodys_way) {
  EarlyJob job;
  auto first = job.irecv(1, 0, 1, kLongMessage);
  auto second = job.irecv(1, 0, 1, kLongMessage);
  auto wild = job.irecv(1, kAny, kAnyTagInt, kLongMessage);
  job.settle();
  auto a = job.isend(0, 1, 1, filled(kLongMessage, 1));
  job.settle();
  EXPECT_EQ(job.invited(), 2u);
  auto b = job.isend(0, 1, 1, filled(kLongMessage, 2));
  EXPECT_TRUE(b->complete());
  job.settle();
  EXPECT_EQ(second->data, filled(kLongMessage, 2));
  EXPECT_FALSE(wild->complete());
  job[1].cancel(wild->request);
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
  EXPECT_EQ(job.invited(), 2u) << "of the first once more, since its invitation was void";
  auto third = job.irecv(1, 0, 1, kLongMessage);
  EXPECT_EQ(job.invited(), 3u) << "the old ones are void";
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

// SPDX-License-Identifier: BSD-3-Clause
// Long messages that are written to receives that wait: that nobody writes to a buffer that does not wait for
// just this message, whatever is cancelled, closed, lost or full.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/pml/early_job.hpp"

namespace starling::pml::test {
namespace {

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

}  // namespace
}  // namespace starling::pml::test

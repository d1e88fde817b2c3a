// SPDX-License-Identifier: BSD-3-Clause
// Which message meets which receive (MPI 5.0, 3.5 and 3.8).
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

int value(const Op& op) { return op.data.empty() ? -1 : int(op.data[0]); }
std::vector<std::byte> one(int number) { return {std::byte(number)}; }

TEST(Matching, a_message_meets_the_receive_posted_before_it) {
  Job job(2);
  auto receive = job.irecv(1, 0, 5, 8);
  auto send = job.isend(0, 1, 5, one(42));
  EXPECT_TRUE(send->complete());
  job.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_EQ(value(*receive), 42);
  EXPECT_EQ(receive->status().source, Rank{0});
  EXPECT_EQ(receive->status().tag, Tag{5});
  EXPECT_EQ(receive->status().bytes, 1u);
  EXPECT_EQ(receive->status().fault, Fault::none);
}

TEST(Matching, a_receive_meets_the_message_that_came_before_it) {
  Job job(2);
  auto send = job.isend(0, 1, 5, one(42));
  job.settle();
  EXPECT_EQ(job[1].counters().unexpected, 1u);
  auto receive = job.irecv(1, 0, 5, 8);
  ASSERT_TRUE(receive->complete());
  EXPECT_EQ(value(*receive), 42);
  EXPECT_EQ(job[1].counters().unexpected_bytes, 0u);
}

TEST(Matching, messages_of_one_tag_are_received_in_the_order_sent) {
  Job job(2);
  std::vector<OpPtr> ops, receives;
  for (int i = 0; i < 3; ++i) receives.push_back(job.irecv(1, 0, 1, 1));
  for (int i = 0; i < 6; ++i) ops.push_back(job.isend(0, 1, 1, one(i)));
  job.settle();
  for (int i = 3; i < 6; ++i) receives.push_back(job.irecv(1, 0, 1, 1));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(value(*receives[std::size_t(i)]), i);
}

TEST(Matching, a_tag_that_does_not_fit_is_passed_over) {
  Job job(2);
  auto first = job.isend(0, 1, 1, one(1));
  auto second = job.isend(0, 1, 2, one(2));
  job.settle();
  EXPECT_EQ(value(*job.irecv(1, 0, 2, 1)), 2);
  EXPECT_EQ(value(*job.irecv(1, 0, 1, 1)), 1);
}

TEST(Matching, the_earlier_of_a_specific_and_a_wildcard_receive_wins) {
  Job job(3);
  auto specific = job.irecv(2, 0, 1, 1);
  auto wildcard = job.irecv(2, kAny, kAnyTagInt, 1);
  auto a = job.isend(0, 2, 1, one(10));
  auto b = job.isend(0, 2, 1, one(11));
  job.settle();
  EXPECT_EQ(value(*specific), 10);
  EXPECT_EQ(value(*wildcard), 11);

  auto wildcard_first = job.irecv(2, kAny, 1, 1);
  auto specific_second = job.irecv(2, 0, 1, 1);
  auto c = job.isend(0, 2, 1, one(12));
  auto d = job.isend(0, 2, 1, one(13));
  job.settle();
  EXPECT_EQ(value(*wildcard_first), 12);
  EXPECT_EQ(value(*specific_second), 13);
}

TEST(Matching, a_wildcard_receive_takes_the_earliest_arrival_of_any_source) {
  Job job(3);
  auto a = job.isend(1, 2, 7, one(1));
  job.settle();
  auto b = job.isend(0, 2, 7, one(2));
  job.settle();
  auto first = job.irecv(2, kAny, 7, 1);
  EXPECT_EQ(value(*first), 1);
  EXPECT_EQ(first->status().source, Rank{1});
  auto second = job.irecv(2, kAny, kAnyTagInt, 1);
  EXPECT_EQ(value(*second), 2);
  EXPECT_EQ(second->status().source, Rank{0});
}

TEST(Matching, order_holds_between_short_and_long_messages) {
  Job job(2);
  auto large = job.isend(0, 1, 1, filled(5000, 3));
  auto small = job.isend(0, 1, 1, one(9));
  job.settle();
  auto first = job.irecv(1, 0, 1, 6000);
  auto second = job.irecv(1, 0, 1, 6000);
  job.settle();
  EXPECT_EQ(first->status().bytes, 5000u);
  EXPECT_EQ(second->status().bytes, 1u);
  EXPECT_TRUE(large->complete());
}

TEST(Matching, order_holds_when_the_transport_fills_up) {
  PairOptions options;
  options.capacity = 2;
  Job job(2, options);
  std::vector<OpPtr> ops;
  for (int i = 0; i < 50; ++i)
    ops.push_back(job.isend(0, 1, 1, i % 7 == 3 ? filled(3000, std::uint64_t(i)) : one(i)));
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, "x", 1), Post::again);
  EXPECT_FALSE(job.at(0).may_sleep());
  EXPECT_TRUE(job.at(1).may_sleep());
  for (int i = 0; i < 50; ++i) {
    auto receive = job.irecv(1, 0, 1, 4000);
    job.settle();
    ASSERT_TRUE(receive->complete());
    if (i % 7 == 3) {
      EXPECT_EQ(receive->status().bytes, 3000u) << i;
    } else {
      EXPECT_EQ(value(*receive), i);
    }
  }
  EXPECT_TRUE(job.at(0).may_sleep());
  EXPECT_TRUE(job.drained());
}

// Nobody rings when a get has ended: only progress finds out.
TEST(Matching, a_process_does_not_sleep_while_it_gets) {
  PairOptions options;
  options.get = GetMode::later;
  options.rings = true;
  Job job(2, options, Large::get);
  auto send = job.isend(0, 1, 1, filled(5000, 1));
  auto receive = job.irecv(1, 0, 1, 5000);
  EXPECT_TRUE(job.at(1).may_sleep());
  while (job.network.at(1).gets == 0) job.progress();
  EXPECT_FALSE(receive->complete());
  EXPECT_FALSE(job.at(1).may_sleep());
  job.settle();
  EXPECT_TRUE(receive->complete());
  EXPECT_TRUE(job.at(1).may_sleep());
  EXPECT_EQ(receive->data, filled(5000, 1));
}

TEST(Matching, contexts_do_not_mix) {
  Job job(2);
  const ContextId other = kWorld.on(Channel::collective);
  Context* const from = job.open(0, other);
  Context* const to = job.open(1, other);
  auto in_other = job.make(1, 0, 1, std::vector<std::byte>(1));
  in_other->request.context = to;
  job[1].irecv(in_other->request);
  auto in_world = job.irecv(1, 0, 1, 1);
  auto a = job.isend(0, 1, 1, one(1));
  job.settle();
  EXPECT_FALSE(in_other->complete());
  EXPECT_EQ(value(*in_world), 1);
  auto send = job.make(0, 1, 1, one(2));
  send->request.context = from;
  job[0].isend(send->request);
  job.settle();
  EXPECT_EQ(value(*in_other), 2);
}

TEST(Matching, probe_sees_a_message_without_taking_it) {
  Job job(2);
  Status status;
  EXPECT_FALSE(job[1].probe(*job.contexts[1], kAnySource, kAnyTag, &status));
  auto send = job.isend(0, 1, 3, filled(100, 1));
  job.settle();
  EXPECT_FALSE(job[1].probe(*job.contexts[1], Rank{0}, Tag{4}, &status));
  for (const Rank rank : {Rank{0}, kAnySource}) {
    ASSERT_TRUE(job[1].probe(*job.contexts[1], rank, kAnyTag, &status));
    EXPECT_EQ(status.source, Rank{0});
    EXPECT_EQ(status.tag, Tag{3});
    EXPECT_EQ(status.bytes, 100u);
  }
  EXPECT_TRUE(job.irecv(1, 0, 3, 100)->complete());
}

TEST(Matching, mprobe_takes_a_message_out_of_matching) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, std::size_t{9000}}) {
    Job job(2);
    auto first = job.isend(0, 1, 3, filled(bytes, 1));
    auto second = job.isend(0, 1, 3, filled(bytes, 2));
    job.settle();
    Status status;
    Message* const message = job[1].mprobe(*job.contexts[1], kAnySource, Tag{3}, &status);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(status.bytes, bytes);
    auto later = job.irecv(1, 0, 3, bytes);
    job.settle();
    EXPECT_EQ(later->data, filled(bytes, 2));
    auto matched = job.make(1, 0, 0, std::vector<std::byte>(bytes));
    job[1].mrecv(message, matched->request);
    job.settle();
    ASSERT_TRUE(matched->complete());
    EXPECT_EQ(matched->data, filled(bytes, 1));
    EXPECT_EQ(matched->status().tag, Tag{3});
    EXPECT_EQ(matched->status().source, Rank{0});
    EXPECT_TRUE(first->complete() && second->complete());
    EXPECT_EQ(job[1].mprobe(*job.contexts[1], kAnySource, kAnyTag, &status), nullptr);
  }
}

TEST(Matching, a_message_to_self_waits_for_its_receive) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{20000}}) {
    const PairOptions options;
    Job job(1, options);
    auto send = job.isend(0, 0, 1, filled(bytes, 4));
    job.settle();
    EXPECT_EQ(send->complete(), bytes <= options.eager);
    auto receive = job.irecv(0, kAny, 1, bytes);
    job.settle();
    EXPECT_TRUE(send->complete());
    ASSERT_TRUE(receive->complete());
    EXPECT_EQ(receive->data, filled(bytes, 4));
    auto posted = job.irecv(0, 0, 2, bytes);
    auto second = job.isend(0, 0, 2, filled(bytes, 5), Mode::synchronous);
    job.settle();
    EXPECT_TRUE(posted->complete() && second->complete());
    EXPECT_EQ(posted->data, filled(bytes, 5));
    EXPECT_TRUE(job.drained());
  }
}

TEST(Matching, try_send_goes_once_the_peer_is_known) {
  Job job(2);
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, "a", 1), Post::again);
  auto send = job.isend(0, 1, 1, one('b'));
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, "c", 1), Post::done);
  const auto long_one = filled(job.network.options.eager + 1, 1);
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, long_one.data(), long_one.size()),
            Post::again);
  job.settle();
  EXPECT_EQ(value(*job.irecv(1, 0, 1, 1)), 'b');
  EXPECT_EQ(value(*job.irecv(1, 0, 1, 1)), 'c');
}

}  // namespace
}  // namespace starling::pml::test

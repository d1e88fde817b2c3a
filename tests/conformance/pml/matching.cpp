// SPDX-License-Identifier: BSD-3-Clause
// Every pml: which message meets which receive (MPI 5.0, 3.5 and 3.8).
#include "tests/conformance/pml/suite.hpp"

namespace starling::conformance {
namespace {

using namespace pml;  // its words are MPI's

TEST_F(Pml, a_message_meets_the_receive_posted_before_it) {
  PmlJob job(2);
  ASSERT_TRUE(job.works());
  auto receive = job.irecv(1, 0, 5, 8);
  auto send = job.isend(0, 1, 5, one(42));
  job.settle();
  EXPECT_TRUE(send->complete()) << "a small standard send does not wait for more than its receive";
  EXPECT_TRUE(got(job, receive, 42));
  EXPECT_EQ(receive->status().source, Rank{0});
  EXPECT_EQ(receive->status().tag, Tag{5});
  EXPECT_EQ(receive->status().bytes, 1u);
  EXPECT_EQ(receive->status().fault, Fault::none);
}

TEST_F(Pml, messages_of_one_tag_are_received_in_the_order_sent) {
  PmlJob job(2);
  ASSERT_TRUE(job.works());
  std::vector<OpPtr> ops, receives;
  for (int i = 0; i < 3; ++i) receives.push_back(job.irecv(1, 0, 1, 1));
  for (int i = 0; i < 6; ++i) ops.push_back(job.isend(0, 1, 1, one(i)));
  job.settle();
  for (int i = 3; i < 6; ++i) receives.push_back(job.irecv(1, 0, 1, 1));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(got(job, receives[std::size_t(i)], i));
}

TEST_F(Pml, a_tag_that_does_not_fit_is_passed_over) {
  PmlJob job(2);
  ASSERT_TRUE(job.works());
  auto first = job.isend(0, 1, 1, one(1));
  auto second = job.isend(0, 1, 2, one(2));
  job.settle();
  EXPECT_TRUE(got(job, job.irecv(1, 0, 2, 1), 2));
  EXPECT_TRUE(got(job, job.irecv(1, 0, 1, 1), 1));
}

TEST_F(Pml, the_earlier_of_a_specific_and_a_wildcard_receive_wins) {
  PmlJob job(3);
  ASSERT_TRUE(job.works());
  auto specific = job.irecv(2, 0, 1, 1);
  auto wildcard = job.irecv(2, kAny, kAnyTagInt, 1);
  auto a = job.isend(0, 2, 1, one(10));
  auto b = job.isend(0, 2, 1, one(11));
  job.settle();
  EXPECT_TRUE(got(job, specific, 10));
  EXPECT_TRUE(got(job, wildcard, 11));

  auto wildcard_first = job.irecv(2, kAny, 1, 1);
  auto specific_second = job.irecv(2, 0, 1, 1);
  auto c = job.isend(0, 2, 1, one(12));
  auto d = job.isend(0, 2, 1, one(13));
  job.settle();
  EXPECT_TRUE(got(job, wildcard_first, 12));
  EXPECT_TRUE(got(job, specific_second, 13));
}

TEST_F(Pml, a_wildcard_receive_takes_the_earliest_arrival_of_any_source) {
  PmlJob job(3);
  ASSERT_TRUE(job.works());
  auto a = job.isend(1, 2, 7, one(1));
  job.settle();
  auto b = job.isend(0, 2, 7, one(2));
  job.settle();
  auto first = job.irecv(2, kAny, 7, 1);
  EXPECT_TRUE(got(job, first, 1));
  EXPECT_EQ(first->status().source, Rank{1});
  auto second = job.irecv(2, kAny, kAnyTagInt, 1);
  EXPECT_TRUE(got(job, second, 2));
  EXPECT_EQ(second->status().source, Rank{0});
}

TEST_F(Pml, contexts_do_not_mix) {
  PmlJob job(2);
  ASSERT_TRUE(job.works());
  const ContextId other = kWorld.on(Channel::collective);
  Context* const from = job.open(0, other);
  Context* const to = job.open(1, other);
  auto in_other = job.make(1, 0, 1, std::vector<std::byte>(1));
  in_other->request.context = to;
  job[1].irecv(in_other->request);
  auto in_world = job.irecv(1, 0, 1, 1);
  auto a = job.isend(0, 1, 1, one(1));
  job.settle();
  EXPECT_FALSE(in_other->complete()) << "a message of one context has met a receive of another";
  EXPECT_TRUE(got(job, in_world, 1));
  auto send = job.make(0, 1, 1, one(2));
  send->request.context = from;
  job[0].isend(send->request);
  job.settle();
  EXPECT_TRUE(got(job, in_other, 2));
}

TEST_F(Pml, probe_sees_a_message_without_taking_it) {
  PmlJob job(2);
  ASSERT_TRUE(job.works());
  Status status;
  EXPECT_FALSE(job[1].probe(*job.contexts[1], kAnySource, kAnyTag, &status));
  auto send = job.isend(0, 1, 3, filled(100, 1));
  job.settle();
  EXPECT_FALSE(job[1].probe(*job.contexts[1], Rank{0}, Tag{4}, &status));
  for (const Rank rank : {Rank{0}, kAnySource}) {
    ASSERT_TRUE(job[1].probe(*job.contexts[1], rank, kAnyTag, &status))
        << "probe() does not see a message that has come, or an earlier one has taken it";
    EXPECT_EQ(status.source, Rank{0});
    EXPECT_EQ(status.tag, Tag{3});
    EXPECT_EQ(status.bytes, 100u);
  }
  auto receive = job.irecv(1, 0, 3, 100);
  job.settle();
  EXPECT_TRUE(receive->complete()) << "probe() has taken the message out of matching";
}

TEST_F(Pml, mprobe_takes_a_message_out_of_matching) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, std::size_t{9000}}) {
    PmlJob job(2);
    ASSERT_TRUE(job.works());
    auto first = job.isend(0, 1, 3, filled(bytes, 1));
    auto second = job.isend(0, 1, 3, filled(bytes, 2));
    job.settle();
    Status status;
    Message* const message = job[1].mprobe(*job.contexts[1], kAnySource, Tag{3}, &status);
    ASSERT_NE(message, nullptr) << "mprobe() does not see a message that has come";
    EXPECT_EQ(status.bytes, bytes);
    auto later = job.irecv(1, 0, 3, bytes);
    job.settle();
    EXPECT_TRUE(later->data == filled(bytes, 2))
        << "a receive took the message that mprobe() had taken out of matching";
    auto matched = job.make(1, 0, 0, std::vector<std::byte>(bytes));
    job[1].mrecv(message, matched->request);
    job.settle();
    ASSERT_TRUE(matched->complete());
    EXPECT_TRUE(matched->data == filled(bytes, 1)) << "mrecv() gives other bytes than were sent";
    EXPECT_EQ(matched->status().tag, Tag{3});
    EXPECT_EQ(matched->status().source, Rank{0});
    EXPECT_TRUE(first->complete() && second->complete());
    EXPECT_EQ(job[1].mprobe(*job.contexts[1], kAnySource, kAnyTag, &status), nullptr);
  }
}

TEST_F(Pml, order_holds_among_short_and_long_messages_where_room_is_scarce) {
  PairOptions options;
  options.capacity = 2;
  options.again_percent = 20;
  PmlJob job(2, options);
  ASSERT_TRUE(job.works());
  const auto is_long = [](int i) { return i % 7 == 3; };
  std::vector<OpPtr> sends, receives;
  for (int i = 0; i < 25; ++i) receives.push_back(job.irecv(1, 0, 1, 40'000));
  for (int i = 0; i < 50; ++i) {
    auto data = filled(is_long(i) ? 30'000 : 1, 0);
    data[0] = std::byte(i);
    sends.push_back(job.isend(0, 1, 1, std::move(data)));
  }
  job.settle();
  for (int i = 25; i < 50; ++i) receives.push_back(job.irecv(1, 0, 1, 40'000));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(got(job, receives[std::size_t(i)], i));
    EXPECT_EQ(receives[std::size_t(i)]->status().bytes, is_long(i) ? 30'000u : 1u);
  }
  EXPECT_TRUE(job.drained()) << "all messages have arrived, but Peers::drained() is false";
}

}  // namespace
}  // namespace starling::conformance

// SPDX-License-Identifier: BSD-3-Clause
// Cancel in every state (MPI 5.0, 3.8.4: either the cancel or the communication succeeds, never both, and the
// request ends).
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

TEST(Cancel, a_posted_receive_ends_cancelled_and_matches_nothing) {
  Job job(2);
  for (const int source : {0, kAny}) {
    auto cancelled = job.irecv(1, source, 1, 8);
    auto next = job.irecv(1, source, 1, 8);
    job[1].cancel(cancelled->request);
    ASSERT_TRUE(cancelled->complete());
    EXPECT_TRUE(cancelled->status().cancelled);
    auto send = job.isend(0, 1, 1, filled(8, 1));
    job.settle();
    EXPECT_EQ(next->data, filled(8, 1));
    EXPECT_FALSE(next->status().cancelled);
  }
}

TEST(Cancel, a_receive_that_is_complete_or_moving_is_left_alone) {
  Job job(2);
  auto done = job.irecv(1, 0, 1, 8);
  auto small = job.isend(0, 1, 1, filled(8, 1));
  job.settle();
  job[1].cancel(done->request);
  EXPECT_FALSE(done->status().cancelled);

  auto moving = job.irecv(1, 0, 2, 50'000);
  auto large = job.isend(0, 1, 2, filled(50'000, 2));
  job.at(1).progress();  // matched: the CTS is out
  ASSERT_FALSE(moving->complete());
  job[1].cancel(moving->request);
  job[0].cancel(large->request);
  job.settle();
  ASSERT_TRUE(moving->complete() && large->complete());
  EXPECT_FALSE(moving->status().cancelled || large->status().cancelled);
  EXPECT_EQ(moving->data, filled(50'000, 2));
  EXPECT_TRUE(job.drained());
}

TEST(Cancel, a_send_that_has_not_left_ends_at_once) {
  PairOptions options;
  options.capacity = 1;
  Job job(2, options);
  auto first = job.isend(0, 1, 1, filled(4, 1));
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{9000}}) {
    for (const Mode mode : {Mode::standard, Mode::synchronous}) {
      auto waiting = job.isend(0, 1, 2, filled(bytes, 2), mode);
      ASSERT_FALSE(waiting->complete());
      job.at(0).progress();  // tries in vain, which gives it an id
      job[0].cancel(waiting->request);
      ASSERT_TRUE(waiting->complete());
      EXPECT_TRUE(waiting->status().cancelled);
    }
  }
  job.settle();
  EXPECT_FALSE(job[1].probe(*job.contexts[1], Rank{0}, Tag{2}, nullptr));
  EXPECT_TRUE(job[1].probe(*job.contexts[1], Rank{0}, Tag{1}, nullptr));
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{3}, "x", 1), Post::done);
}

TEST(Cancel, an_unmatched_announced_send_is_taken_back) {
  for (const bool parked : {false, true}) {
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{9000}}) {
      Job job(2);
      const ContextId other = ContextId::make(0, 2);
      auto send = job.make(0, 1, 1, filled(bytes, 1));
      send->request.mode = Mode::synchronous;
      if (parked) send->request.context = job.open(0, other);
      job[0].isend(send->request);
      job.settle();
      job[0].cancel(send->request);
      job[0].cancel(send->request);  // asking twice is asking once
      job.settle();
      ASSERT_TRUE(send->complete());
      EXPECT_TRUE(send->status().cancelled);
      if (parked) {
        EXPECT_FALSE(job[1].probe(*job.open(1, other), kAnySource, kAnyTag, nullptr));
      }
      EXPECT_FALSE(job[1].probe(*job.contexts[1], kAnySource, kAnyTag, nullptr));
      EXPECT_EQ(job[1].counters().unexpected_bytes, 0u);
      EXPECT_TRUE(job.drained());
    }
  }
}

TEST(Cancel, a_message_taken_by_mprobe_can_no_longer_be_cancelled) {
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{9000}}) {
    Job job(2);
    auto send = job.isend(0, 1, 1, filled(bytes, 1), Mode::synchronous);
    job.settle();
    Message* const message = job[1].mprobe(*job.contexts[1], Rank{0}, Tag{1}, nullptr);
    ASSERT_NE(message, nullptr);
    job[0].cancel(send->request);
    job.settle();
    EXPECT_FALSE(send->complete());
    auto receive = job.make(1, 0, 1, std::vector<std::byte>(bytes));
    job[1].mrecv(message, receive->request);
    job.settle();
    ASSERT_TRUE(send->complete() && receive->complete());
    EXPECT_FALSE(send->status().cancelled);
    EXPECT_EQ(receive->data, filled(bytes, 1));
  }
}

TEST(Cancel, a_cancel_that_crosses_the_match_lets_the_message_through) {
  for (const GetMode get : {GetMode::none, GetMode::done}) {
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{9000}}) {
      PairOptions options;
      options.get = get;
      Job job(2, options, get == GetMode::none ? Large::ring : Large::get);
      auto send = job.isend(0, 1, 1, filled(bytes, 1), Mode::synchronous);
      auto receive = job.irecv(1, 0, 1, bytes);
      job.at(1).progress();          // matches; the answer is on its way
      job[0].cancel(send->request);  // so is the cancel
      job.settle();
      ASSERT_TRUE(send->complete() && receive->complete());
      EXPECT_FALSE(send->status().cancelled);
      EXPECT_EQ(receive->data, filled(bytes, 1));
      EXPECT_TRUE(job.drained());
    }
  }
}

TEST(Cancel, closing_a_context_cancels_its_receives) {
  Job job(2);
  auto named = job.irecv(1, 0, 1, 8);
  auto any = job.irecv(1, kAny, 1, 8);
  EXPECT_EQ(job[1].pending().size(), 2u);
  job[1].close(job.contexts[1]);
  EXPECT_TRUE(named->complete() && named->status().cancelled);
  EXPECT_TRUE(any->complete() && any->status().cancelled);
  EXPECT_TRUE(job[1].pending().empty());
}

}  // namespace
}  // namespace starling::pml::test

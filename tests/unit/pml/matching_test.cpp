// SPDX-License-Identifier: BSD-3-Clause
// Which message meets which receive: what the engine does beyond what every pml must (tests/conformance/pml).
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

int value(const Op& op) { return op.data.empty() ? -1 : int(op.data[0]); }
std::vector<std::byte> one(int number) { return {std::byte(number)}; }

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

TEST(Matching, a_short_send_that_may_wait_for_others_stays_open) {
  PairOptions options;
  options.join = 100;
  Job job(2, options);
  auto first = job.isend(0, 1, 1, one('a'));
  EXPECT_FALSE(first->complete());
  EXPECT_EQ(job[0].try_isend(*job.contexts[0], Rank{1}, Tag{1}, "b", 1), Post::again);
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, "c", 1), Post::done) << "it is in a hurry";
  auto longer = job.isend(0, 1, 1, filled(101, 1));
  EXPECT_TRUE(longer->complete());
  job.settle();
  EXPECT_TRUE(first->complete());
  EXPECT_EQ(value(*job.irecv(1, 0, 1, 1)), 'a');
  EXPECT_EQ(value(*job.irecv(1, 0, 1, 1)), 'c');
  EXPECT_EQ(job.irecv(1, 0, 1, 101)->data, filled(101, 1));
}

TEST(Matching, nothing_goes_at_once_to_a_lost_peer) {
  Job job(2);
  auto send = job.isend(0, 1, 1, one('a'));
  EXPECT_EQ(job[0].try_isend(*job.contexts[0], Rank{1}, Tag{1}, "b", 1), Post::done);
  job.network.at(0).lose(1, true);
  (void)job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, "c", 1);
  EXPECT_EQ(job[0].try_isend(*job.contexts[0], Rank{1}, Tag{1}, "c", 1), Post::again);
  EXPECT_EQ(job[0].try_send(*job.contexts[0], Rank{1}, Tag{1}, "c", 1), Post::again);
}

}  // namespace
}  // namespace starling::pml::test

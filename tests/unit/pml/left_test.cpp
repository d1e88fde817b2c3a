// SPDX-License-Identifier: BSD-3-Clause
// Peers that have left in order: what the program has posted for their messages stays, since it may go on to
// test and to cancel it, and a call that would wait for it for ever ends it.
#include "tests/unit/pml/early_job.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

template <class AnyJob>
void leave(AnyJob& job, std::uint32_t at, std::uint32_t rank) {
  job.at(at).sink().on_peer_lost({0, rank}, Error{Errc::peer_left, "test", "has left"});
  job.at(at).progress();
  job[at].note_time(1);
}

TEST(Left, receives_stay_and_are_hopeless_until_they_are_given_up) {
  Job job(3);
  auto before = job.irecv(0, 1, 1, 8);
  auto any = job.irecv(0, kAny, 1, 8);
  auto living = job.irecv(0, 2, 1, 8);
  auto dead_to_all = job.isend(0, 1, 1, filled(9000, 1));
  EXPECT_FALSE(job[0].hopeless(before->request));
  leave(job, 0, 1);
  auto after = job.irecv(0, 1, 1, 8);
  for (Op* op : {before.get(), after.get()}) {
    EXPECT_FALSE(op->complete());
    EXPECT_TRUE(job[0].hopeless(op->request));
    job[0].give_up(op->request);
    ASSERT_TRUE(op->complete());
    EXPECT_EQ(op->status().fault, Fault::peer_left);
    EXPECT_EQ(op->status().source, Rank{1});
    EXPECT_FALSE(job[0].hopeless(op->request));
  }
  EXPECT_EQ(dead_to_all->status().fault, Fault::peer_left) << "a send ends";
  for (Op* op : {any.get(), living.get()}) EXPECT_FALSE(op->complete() || job[0].hopeless(op->request));
  leave(job, 0, 2);
  EXPECT_EQ(job[0].lost(*job.contexts[0], kAnySource), Fault::peer_left);
  for (Op* op : {any.get(), living.get()}) EXPECT_TRUE(!op->complete() && job[0].hopeless(op->request));
  job[0].give_up(any->request);
  EXPECT_EQ(any->status().fault, Fault::peer_left);
  EXPECT_EQ(any->status().source, kAnySource);
  EXPECT_EQ(job[0].pending().size(), 1u);
}

TEST(Left, receives_are_cancelled_and_matched_as_ever) {
  Job job(2);
  auto named = job.irecv(0, 1, 1, 8);
  auto any = job.irecv(0, kAny, 1, 8);
  auto own = job.irecv(0, 0, 1, 8);
  leave(job, 0, 1);
  job[0].cancel(named->request);
  EXPECT_TRUE(named->complete() && named->status().cancelled);
  auto send = job.isend(0, 0, 1, filled(8, 1));
  job.at(0).progress();
  ASSERT_TRUE(any->complete());
  EXPECT_EQ(any->status().fault, Fault::none);
  EXPECT_EQ(any->data, filled(8, 1)) << "posted before the one that names this process";
  EXPECT_FALSE(own->complete());
  job[0].close(job.contexts[0]);
  EXPECT_TRUE(own->status().cancelled);
}

TEST(Left, pending_messages_tell_who_has_left) {
  Job job(2);
  auto named = job.irecv(0, 1, 1, 8);
  auto any = job.irecv(0, kAny, 2, 8);
  for (const Pending& one : job[0].pending()) EXPECT_STREQ(one.stage, "");
  leave(job, 0, 1);
  ASSERT_EQ(job[0].pending().size(), 2u);
  for (const Pending& one : job[0].pending()) {
    EXPECT_STREQ(one.stage,
                 one.rank == kAnySource ? "all others have left MPI and ended" : "it has left MPI and ended");
  }
}

TEST(Left, one_that_has_died_among_them_ends_a_wildcard) {
  for (const bool first : {true, false}) {
    Job job(3);
    auto any = job.irecv(0, kAny, 1, 8);
    if (!first) leave(job, 0, 1);
    job.network.at(0).lose(2);
    job.at(0).progress();
    if (first) leave(job, 0, 1);
    EXPECT_EQ(job[0].lost(*job.contexts[0], kAnySource), Fault::peer_lost);
    ASSERT_TRUE(any->complete());
    EXPECT_EQ(any->status().fault, Fault::peer_lost);
  }
}

TEST(Left, a_send_whose_cancel_they_do_not_answer_is_cancelled) {
  for (const bool asked : {true, false}) {
    Job job(2);
    auto announced = job.isend(0, 1, 1, filled(9000, 1));
    auto sync = job.isend(0, 1, 1, filled(8, 1), Mode::synchronous);
    for (Op* op : {announced.get(), sync.get()}) {
      if (asked) job[0].cancel(op->request);
      ASSERT_FALSE(op->complete());
    }
    leave(job, 0, 1);
    for (Op* op : {announced.get(), sync.get()}) {
      ASSERT_TRUE(op->complete());
      EXPECT_EQ(op->status().cancelled, asked);
      EXPECT_EQ(op->status().fault, asked ? Fault::none : Fault::peer_left);
    }
    EXPECT_TRUE(job.at(0).drained());
  }
}

TEST(Left, a_receive_that_they_were_told_of_is_given_up) {
  for (const bool cancel : {true, false}) {
    EarlyJob job;
    auto receive = job.irecv(1, 0, 1, kLongMessage);
    job.settle();
    leave(job, 1, 0);
    ASSERT_TRUE(job[1].hopeless(receive->request));
    if (cancel) {
      job[1].cancel(receive->request);
    } else {
      job[1].give_up(receive->request);
    }
    ASSERT_TRUE(receive->complete());
    EXPECT_EQ(receive->status().cancelled, cancel);
    EXPECT_TRUE(job[1].pending().empty());
  }
}

}  // namespace
}  // namespace starling::pml::test

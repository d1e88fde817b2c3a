// SPDX-License-Identifier: BSD-3-Clause
/// @file  The executor and its memory: restarts, faults, special steps, scratch.

#include "fake_world.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/select.hpp"
#include "pairs.hpp"

namespace starling::mpi::coll::testing {
namespace {

TEST(CollExecution, EmptyScheduleIsCompleteAtOnce) {
  Execution execution;
  EXPECT_TRUE(execution.complete());
  execution.start({});
  EXPECT_TRUE(execution.complete());
}

TEST(CollExecution, RunsAgainWithTheBuffersItWasBuiltWith) {
  Job job(5);
  std::vector<Memory> sends, receives;
  for (int rank = 0; rank < 5; ++rank) {
    sends.emplace_back(kGappy, 9);
    receives.emplace_back(kGappy, 9);
  }
  for (int rank = 0; rank < 5; ++rank) {
    Reduce asked;
    asked.send = sends[static_cast<std::size_t>(rank)].base();
    asked.receive = receives[static_cast<std::size_t>(rank)].base();
    asked.count = 9;
    asked.type = kGappy.type();
    asked.operation = kCompose;
    allreduce_recursive_doubling(job[rank].execution.schedule, job[rank].team, asked);
  }
  for (int turn = 0; turn < 3; ++turn) {
    for (int rank = 0; rank < 5; ++rank) {
      for (std::uint64_t i = 0; i < 9; ++i)
        sends[static_cast<std::size_t>(rank)].set(i, value(rank + 10 * turn, i));
    }
    ASSERT_TRUE(job.run());
    for (int rank = 0; rank < 5; ++rank) {
      for (std::uint64_t i = 0; i < 9; ++i) {
        Pair want = value(10 * turn, i);
        for (int other = 1; other < 5; ++other) want = compose(want, value(other + 10 * turn, i));
        ASSERT_EQ(receives[static_cast<std::size_t>(rank)].get(i), want)
            << "turn " << turn << " rank " << rank;
      }
    }
  }
}

TEST(CollExecution, LostPeerEndsTheOperationAndLeavesNoRequestBehind) {
  Job job(4);
  for (int rank = 0; rank < 4; ++rank) barrier(job[rank].execution.schedule, job[rank].team);
  job.world().failing = 2;
  EXPECT_FALSE(job.run());
  EXPECT_TRUE(job[2].execution.complete());
  EXPECT_EQ(job[2].execution.fault(), pml::Fault::peer_lost);
  EXPECT_EQ(job[2].execution.faulty_peer(), 3);
  EXPECT_FALSE(job[3].execution.complete());
}

class Countdown final : public Special {
 public:
  explicit Countdown(int& starts) : starts_(starts) {}
  void start(std::int32_t tag) noexcept override {
    left_ = 3;
    starts_ += tag;
  }
  bool advance() noexcept override { return --left_ == 0; }

 private:
  int& starts_;
  int left_ = 0;
};

TEST(CollExecution, SpecialStepIsAdvancedUntilItIsFinished) {
  int starts = 0;
  Execution execution;
  execution.schedule.special(std::make_unique<Countdown>(starts));
  execution.schedule.next_round();
  for (int turn = 1; turn <= 2; ++turn) {
    execution.start({nullptr, nullptr, Tag{5}});
    EXPECT_FALSE(execution.complete());
    EXPECT_FALSE(execution.advance());
    EXPECT_TRUE(execution.advance());
    EXPECT_EQ(starts, 5 * turn);
  }
}

TEST(CollSchedule, EmptyRoundsLeaveNoTrace) {
  Schedule schedule;
  schedule.next_round();
  schedule.copy(packed(nullptr, 0), packed(nullptr, 0));
  schedule.next_round();
  EXPECT_TRUE(schedule.rounds().empty());
}

TEST(CollSchedule, ImpossibleScratchIsReportedAndForgottenByClear) {
  Schedule schedule;
  EXPECT_EQ(schedule.scratch(std::uint64_t{1} << 62), nullptr);
  EXPECT_FALSE(schedule.ok());
  schedule.clear();
  EXPECT_TRUE(schedule.ok());
}

TEST(CollScratch, MemoryIsAlignedDistinctAndReused) {
  Scratch scratch;
  std::byte* const first = scratch.take(1);
  std::byte* const second = scratch.take(5000);
  std::byte* const third = scratch.take(0);
  for (std::byte* const at : {first, second, third}) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0u);
  EXPECT_NE(first, second);
  EXPECT_NE(second, third);
  scratch.clear();
  EXPECT_EQ(scratch.take(1), first);
}

TEST(CollCopy, EveryPairOfLayoutsCopiesAllElements) {
  constexpr std::uint64_t kCount = 2500;  // several windows
  for (const PairLayout* from : kLayouts) {
    for (const PairLayout* to : kLayouts) {
      Memory source(*from, kCount), target(*to, kCount);
      for (std::uint64_t i = 0; i < kCount; ++i) source.set(i, value(1, i));
      copy_buffer(region(source.base(), kCount, from->type()), region(target.base(), kCount, to->type()));
      for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(target.get(i), value(1, i));
      EXPECT_TRUE(target.rest_is_blank());
    }
  }
}

}  // namespace
}  // namespace starling::mpi::coll::testing

// SPDX-License-Identifier: BSD-3-Clause
/// @file  The executor and its memory: restarts, faults, special steps, scratch.

#include "by_nodes.hpp"
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

TEST(CollExecution, WhoGivesUpTellsThePeerWhoseMessageItTakesBack) {
  for (const std::size_t bytes : {8, 241, 251}) {  // the last two as long as notices are
    Job job(3);
    job.world().unequal = job.world().announced_only = true;
    job.world().dead = 0;
    std::vector<std::byte> words(bytes), none(bytes), came(bytes);
    Schedule& middle = job[1].execution.schedule;
    middle.among({});
    middle.receive(0, packed(none.data(), bytes));
    middle.send(2, packed(words.data(), bytes));
    middle.next_round();
    middle.send(0, packed(words.data(), bytes));  // and the dead one is not told
    middle.next_round();
    Schedule& last = job[2].execution.schedule;
    last.among({});
    last.receive(1, packed(came.data(), bytes));
    last.next_round();
    EXPECT_TRUE(job.run()) << bytes;
    EXPECT_EQ(job[2].execution.fault(), pml::Fault::peer_lost) << bytes;
    EXPECT_TRUE(job[2].execution.told_of_loss()) << bytes;
    EXPECT_TRUE(job.world().empty()) << bytes;
  }
}

TEST(CollExecution, NobodyIsToldInPlaceOfAMessageThatBothEndsKnowToBeEmpty) {
  for (const std::size_t bytes : {std::size_t{0}, sizeof(std::uint64_t)}) {
    Job job(3);
    job.world().unequal = job.world().announced_only = true;
    job.world().dead = 0;
    std::uint64_t word = 1, none = 0, came = 0;
    Schedule& first = job[1].execution.schedule;
    first.among({});
    std::uint32_t late = 0;
    first.work([&](Schedule& schedule) { schedule.settle(late, packed(&word, bytes)); });
    first.receive(0, packed(&none, sizeof none));
    first.next_round();
    late = first.send_late(2);
    first.next_round();
    Schedule& other = job[2].execution.schedule;
    other.among({});
    if (bytes != 0) other.receive(1, packed(&came, bytes));
    other.next_round();
    EXPECT_TRUE(job.run()) << bytes;
    EXPECT_EQ(job[2].execution.told_of_loss(), bytes != 0);
    EXPECT_TRUE(job.world().empty()) << bytes;
  }
}

TEST(CollExecution, WhoHasNoMemoryTellsAllAndTouchesNothing) {
  for (int poor = 0; poor < 7; ++poor) {
    Job job(7);
    job.world().unequal = true;
    std::vector<Memory> vectors;
    for (int rank = 0; rank < 7; ++rank) {
      vectors.emplace_back(kDense, 4);
      for (std::uint64_t i = 0; i < 4; ++i) vectors.back().set(i, value(rank, i));
    }
    for (int rank = 0; rank < 7; ++rank) {
      Reduce asked;
      asked.receive = vectors[static_cast<std::size_t>(rank)].base();
      asked.in_place = true;
      asked.count = 4;
      asked.type = kDense.type();
      asked.operation = kCompose;
      by_nodes<allreduce_nodes, Lie::growing>(job[rank].execution.schedule, job[rank].team, asked);
    }
    job[poor].execution.schedule.without_memory();
    job.world().even_hollow = true;
    EXPECT_TRUE(job.run()) << poor;
    EXPECT_TRUE(job.world().empty()) << poor;
    for (int rank = 0; rank < 7; ++rank) {
      const pml::Fault fault = job[rank].execution.fault();
      EXPECT_EQ(fault, rank == poor ? pml::Fault::no_memory : pml::Fault::truncated) << poor << ' ' << rank;
    }
    for (std::uint64_t i = 0; i < 4; ++i)
      EXPECT_EQ(vectors[static_cast<std::size_t>(poor)].get(i), value(poor, i)) << poor;
  }
}

/// A call of all in which one process has another count.
struct Odd {
  int process;
  std::uint64_t count;
};

/// Runs `build(schedule, team, buffer, count)` on five processes and says who has a fault.
template <class Build>
std::vector<bool> faults(Odd odd, std::uint64_t count, Build build) {
  Job job(5);
  job.world().unequal = true;
  std::vector<Memory> memory;
  for (int rank = 0; rank < 5; ++rank) memory.emplace_back(kDense, rank == odd.process ? odd.count : count);
  for (int rank = 0; rank < 5; ++rank) {
    auto& own = memory[static_cast<std::size_t>(rank)];
    for (std::uint64_t i = 0; i < own.count(); ++i) own.set(i, value(rank, i));
    build(job[rank].execution.schedule, job[rank].team, own.base(), own.count());
  }
  EXPECT_TRUE(job.run());
  EXPECT_TRUE(job.world().empty());
  std::vector<bool> result;
  for (int rank = 0; rank < 5; ++rank) {
    const Execution& execution = job[rank].execution;
    result.push_back(execution.fault() == pml::Fault::truncated);
    if (result.back()) {
      EXPECT_NE(execution.lengths().sent, execution.lengths().expected) << rank;
    }
    EXPECT_TRUE(memory[static_cast<std::size_t>(rank)].rest_is_blank()) << rank;
  }
  return result;
}

TEST(CollExecution, ABroadcastOfAnotherLengthIsAFaultOnAllThatReceive) {
  for (const Odd odd : {Odd{0, 7}, Odd{0, 1}}) {
    const std::vector<bool> found =
        faults(odd, 3, [](Schedule& schedule, const Team& team, void* buffer, std::uint64_t count) {
          bcast_binomial(schedule, team, {buffer, count, kDense.type(), 0});
        });
    EXPECT_EQ(found, (std::vector{false, true, true, true, true})) << odd.count;
  }
}

TEST(CollExecution, AReductionOfAnotherLengthIsAFaultAtTheRootOrEverywhere) {
  for (const Odd odd : {Odd{3, 7}, Odd{3, 1}, Odd{0, 2}}) {
    for (const bool all : {false, true}) {
      const auto build = [&](Schedule& schedule, const Team& team, void* buffer, std::uint64_t count) {
        Reduce asked;
        asked.send = asked.receive = buffer;
        asked.in_place = all || team.rank == 0;
        asked.count = count;
        asked.type = kDense.type();
        asked.operation = kCompose;
        all ? allreduce_recursive_doubling(schedule, team, asked) : reduce_binomial(schedule, team, asked);
      };
      const std::vector<bool> found = faults(odd, 3, build);
      EXPECT_TRUE(found[0]);
      if (all) {
        EXPECT_EQ(found, std::vector<bool>(5, true)) << odd.process << ' ' << odd.count;
      }
    }
  }
}

TEST(CollExecution, AProcessThatDisagreesWithItselfHasAFaultAndTellsTheOthers) {
  Job job(4);
  job.world().unequal = true;
  std::vector<Memory> sends, receives;
  for (int rank = 0; rank < 4; ++rank) {
    sends.emplace_back(kDense, rank == 2 ? 5 : 3);
    receives.emplace_back(kDense, 12);
  }
  for (int rank = 0; rank < 4; ++rank) {
    auto& send = sends[static_cast<std::size_t>(rank)];
    auto& receive = receives[static_cast<std::size_t>(rank)];
    const Type type = kDense.type();
    allgather_ring(job[rank].execution.schedule, job[rank].team,
                   {send.base(), send.count(), type, Blocks(receive.base(), 3, type), 0, false});
  }
  ASSERT_TRUE(job.run());
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(job[rank].execution.fault(), pml::Fault::truncated) << rank;
    EXPECT_TRUE(receives[static_cast<std::size_t>(rank)].rest_is_blank());
  }
  EXPECT_EQ(job[2].execution.faulty_peer(), -1);
  EXPECT_EQ(job[2].execution.lengths().sent, 40u);
  EXPECT_EQ(job[2].execution.lengths().expected, 24u);
  EXPECT_EQ(job[3].execution.faulty_peer(), 2);
  EXPECT_EQ(job[3].execution.lengths().sent, 40u);
}

TEST(CollExecution, AWrongBlockDoesNotMakeOthersWrong) {
  Job job(4);
  job.world().unequal = true;
  std::vector<Memory> sends, receives;
  for (int rank = 0; rank < 4; ++rank) {
    sends.emplace_back(kDense, 8);
    receives.emplace_back(kDense, 4);
    for (std::uint64_t i = 0; i < 8; ++i) sends.back().set(i, value(rank, i));
  }
  const std::int64_t one[] = {1, 1, 1, 1}, two[] = {2, 1, 1, 1}, places[] = {0, 2, 4, 6},
                     dense[] = {0, 1, 2, 3};
  const Type type = kDense.type();
  for (int rank = 0; rank < 4; ++rank) {
    const Ints counts{nullptr, rank == 3 ? two : one};
    const Alltoall asked{
        Blocks(sends[static_cast<std::size_t>(rank)].base(), counts, Ints{nullptr, places}, type),
        Blocks(receives[static_cast<std::size_t>(rank)].base(), Ints{nullptr, one}, Ints{nullptr, dense},
               type),
        false};
    alltoall_pairwise(job[rank].execution.schedule, job[rank].team, asked);
  }
  ASSERT_TRUE(job.run());
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(job[rank].execution.fault(), rank == 0 ? pml::Fault::truncated : pml::Fault::none) << rank;
    for (int from = 0; from < 4; ++from) {
      EXPECT_EQ(receives[static_cast<std::size_t>(rank)].get(static_cast<std::uint64_t>(from)),
                value(from, static_cast<std::uint64_t>(2 * rank)));
    }
  }
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

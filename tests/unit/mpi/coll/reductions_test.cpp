// SPDX-License-Identifier: BSD-3-Clause
/// @file  Every reducing algorithm against a loop over the ranks: sizes, roots, layouts, orders, in place.

#include "by_nodes.hpp"
#include "fake_world.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/select.hpp"
#include "pairs.hpp"

namespace starling::mpi::coll::testing {
namespace {

using Fn = Pair (*)(Pair, Pair);

/// The result over ranks first..last in order.
Pair expected(Fn op, int first, int last, std::uint64_t index) {
  Pair result = value(first, index);
  for (int rank = first + 1; rank <= last; ++rank) result = op(result, value(rank, index));
  return result;
}

/// One operation of n processes whose operands and results are `count` elements.
struct Case {
  int n;
  std::uint64_t count;
  const PairLayout& layout;
  bool commutative;
  bool in_place;
  int root;
  [[nodiscard]] Fn op() const { return commutative ? sum : compose; }
  [[nodiscard]] std::string text() const {
    return "n " + std::to_string(n) + " count " + std::to_string(count) + " root " + std::to_string(root) +
           (commutative ? " sum" : " compose") + (in_place ? " in place" : "") + " extent " +
           std::to_string(layout.type().extent);
  }
};

/// Runs `build` on all processes; `result(rank, index)` is what the receive buffer must hold, if
/// `significant(rank)`.
template <class Build, class Significant, class Result>
void check(const Case& what, bool root_only_in_place, Build build, Significant significant, Result result) {
  SCOPED_TRACE(what.text());
  Job job(what.n, 0, static_cast<unsigned>(what.n * 7 + what.root));
  std::vector<Memory> sends, receives;
  for (int rank = 0; rank < what.n; ++rank) {
    sends.emplace_back(what.layout, what.count);
    receives.emplace_back(what.layout, what.count);
  }
  for (int rank = 0; rank < what.n; ++rank) {
    const bool in_place = what.in_place && (!root_only_in_place || rank == what.root);
    Memory& send = sends[static_cast<std::size_t>(rank)];
    Memory& receive = receives[static_cast<std::size_t>(rank)];
    for (std::uint64_t i = 0; i < what.count; ++i) (in_place ? receive : send).set(i, value(rank, i));
    Reduce asked;
    asked.send = in_place ? nullptr : send.base();
    asked.receive = significant(rank) || in_place ? receive.base() : nullptr;
    asked.count = what.count;
    asked.type = what.layout.type();
    asked.operation = what.commutative ? kSum : kCompose;
    asked.root = what.root;
    asked.in_place = in_place;
    build(job[rank].execution.schedule, job[rank].team, asked);
  }
  ASSERT_TRUE(job.run());
  EXPECT_TRUE(job.world().empty());
  for (int rank = 0; rank < what.n; ++rank) {
    Memory& send = sends[static_cast<std::size_t>(rank)];
    Memory& receive = receives[static_cast<std::size_t>(rank)];
    for (std::uint64_t i = 0; i < what.count && significant(rank); ++i) {
      ASSERT_EQ(receive.get(i), result(rank, i)) << "rank " << rank << " element " << i;
    }
    if (!what.in_place) {
      for (std::uint64_t i = 0; i < what.count; ++i)
        ASSERT_EQ(send.get(i), value(rank, i)) << "rank " << rank;
    }
    ASSERT_TRUE(receive.rest_is_blank()) << "rank " << rank;
  }
}

/// All cases of one algorithm; `commutative_only` for those that do not keep the order.
template <class Run>
void all_cases(bool commutative_only, bool all_roots, Run run) {
  for (const int n : kSizes) {
    for (const bool commutative : {true, false}) {
      if (commutative_only && !commutative) continue;
      for (const bool in_place : {false, true}) {
        for (const std::uint64_t count : {1u, 3u, 41u}) {
          for (int root = 0; root < (all_roots && (n <= 9 || count == 3) ? n : 1); ++root) {
            const PairLayout& layout = *kLayouts[static_cast<std::size_t>(n + root) % std::size(kLayouts)];
            run(Case{n, count, layout, commutative, in_place, root});
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

using Builder = void (*)(Schedule&, const Team&, const Reduce&);

void check_reduce(Builder build, bool commutative_only) {
  all_cases(commutative_only, true, [&](const Case& what) {
    check(
        what, true, build, [&](int rank) { return rank == what.root; },
        [&](int, std::uint64_t i) { return expected(what.op(), 0, what.n - 1, i); });
  });
}
void check_allreduce(Builder build, bool commutative_only) {
  all_cases(commutative_only, false, [&](const Case& what) {
    check(
        what, false, build, [](int) { return true; },
        [&](int, std::uint64_t i) { return expected(what.op(), 0, what.n - 1, i); });
  });
}

TEST(CollReduce, BinomialTreeKeepsRankOrder) { check_reduce(reduce_binomial, false); }
TEST(CollReduce, RingReduces) { check_reduce(reduce_ring, true); }
TEST(CollAllreduce, RecursiveDoublingKeepsRankOrder) { check_allreduce(allreduce_recursive_doubling, false); }
TEST(CollAllreduce, RabenseifnerReduces) { check_allreduce(allreduce_rabenseifner, true); }
TEST(CollAllreduce, RingReduces) { check_allreduce(allreduce_ring, true); }

TEST(CollAllreduce, ChosenAlgorithmKeepsRankOrderForAnySize) {
  for (const std::uint64_t count : {1u, 600u, 40'000u}) {
    for (const bool commutative : {true, false}) {
      const Case what{5, count, kGappy, commutative, false, 0};
      check(
          what, false, [](Schedule& s, const Team& t, const Reduce& asked) { allreduce(s, t, {}, asked); },
          [](int) { return true; }, [&](int, std::uint64_t i) { return expected(what.op(), 0, 4, i); });
    }
  }
}

TEST(CollScan, PrefixesKeepRankOrder) {
  all_cases(false, false, [](const Case& what) {
    check(
        what, false, scan_doubling, [](int) { return true; },
        [&](int rank, std::uint64_t i) { return expected(what.op(), 0, rank, i); });
  });
}

TEST(CollScan, ExclusivePrefixesKeepRankOrder) {
  all_cases(false, false, [](const Case& what) {
    check(
        what, false, exscan_doubling, [](int rank) { return rank > 0; },
        [&](int rank, std::uint64_t i) { return expected(what.op(), 0, rank - 1, i); });
  });
}

/// Blocks of part(rank) elements each; uniform if `step` is 0.
void check_reduce_scatter(void (*build)(Schedule&, const Team&, const ReduceScatter&), int n,
                          std::int64_t least, int step, bool commutative, bool in_place,
                          const PairLayout& layout) {
  SCOPED_TRACE("n " + std::to_string(n) + " least " + std::to_string(least) + (in_place ? " in place" : ""));
  Job job(n, 0, static_cast<unsigned>(n));
  std::vector<std::int64_t> counts;
  std::uint64_t total = 0;
  for (int rank = 0; rank < n; ++rank) {
    counts.push_back(least + step * (rank % 3));
    total += static_cast<std::uint64_t>(counts.back());
  }
  std::vector<Memory> sends, receives;
  for (int rank = 0; rank < n; ++rank) {
    sends.emplace_back(layout, total);
    receives.emplace_back(
        layout, in_place ? total : static_cast<std::uint64_t>(counts[static_cast<std::size_t>(rank)]));
  }
  for (int rank = 0; rank < n; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    for (std::uint64_t i = 0; i < total; ++i) (in_place ? receives : sends)[at].set(i, value(rank, i));
    ReduceScatter asked;
    asked.send = in_place ? nullptr : sends[at].base();
    asked.receive = receives[at].base();
    if (step != 0) asked.counts = {nullptr, counts.data()};
    asked.count = static_cast<std::uint64_t>(least);
    asked.type = layout.type();
    asked.operation = commutative ? kSum : kCompose;
    asked.in_place = in_place;
    build(job[rank].execution.schedule, job[rank].team, asked);
  }
  ASSERT_TRUE(job.run());
  EXPECT_TRUE(job.world().empty());
  std::uint64_t offset = 0;
  for (int rank = 0; rank < n; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(counts[at]); ++i) {
      ASSERT_EQ(receives[at].get(i), expected(commutative ? sum : compose, 0, n - 1, offset + i))
          << "rank " << rank;
    }
    offset += static_cast<std::uint64_t>(counts[at]);
    ASSERT_TRUE(receives[at].rest_is_blank());
  }
}

TEST(CollReduceScatter, TreeKeepsRankOrder) {
  for (const int n : kSizes) {
    for (const bool in_place : {false, true}) {
      check_reduce_scatter(reduce_scatter_tree, n, 3, 0, false, in_place, kGappy);
      check_reduce_scatter(reduce_scatter_tree, n, 0, 2, false, in_place, kBackwards);
    }
  }
}

TEST(CollReduceScatter, PairwiseReducesEachBlock) {
  for (const int n : kSizes) {
    for (const bool in_place : {false, true}) {
      check_reduce_scatter(reduce_scatter_pairwise, n, 3, 0, true, in_place, kShifted);
      check_reduce_scatter(reduce_scatter_pairwise, n, 0, 2, true, in_place, kDense);
    }
  }
}

TEST(CollNodes, PrefixesKeepRankOrder) {
  all_cases(false, false, [](const Case& what) {
    each_lie<scan_nodes, Reduce>(
        [&](auto build) {
          check(
              what, false, build, [](int) { return true; },
              [&](int rank, std::uint64_t i) { return expected(what.op(), 0, rank, i); });
        },
        true);
    each_lie<exscan_nodes, Reduce>(
        [&](auto build) {
          check(
              what, false, build, [](int rank) { return rank > 0; },
              [&](int rank, std::uint64_t i) { return expected(what.op(), 0, rank - 1, i); });
        },
        true);
  });
}

TEST(CollNodes, ReductionsKeepRankOrderIfNodesDo) {
  for (const bool free_order : {false, true}) {
    each_lie<reduce_nodes, Reduce>([&](auto build) { check_reduce(build, free_order); }, !free_order);
    each_lie<allreduce_nodes, Reduce>([&](auto build) { check_allreduce(build, free_order); }, !free_order);
    each_lie<allreduce_parts, Reduce>([&](auto build) { check_allreduce(build, free_order); }, !free_order);
  }
}

TEST(CollNodes, BlocksAreReducedAndScattered) {
  for (const int n : kSizes) {
    for (const bool in_place : {false, true}) {
      for (const bool commutative : {false, true}) {
        each_lie<reduce_scatter_nodes, ReduceScatter>(
            [&](auto build) {
              check_reduce_scatter(build, n, 3, 0, commutative, in_place, kGappy);
              check_reduce_scatter(build, n, 0, 2, commutative, in_place, kBackwards);
            },
            !commutative);
      }
    }
  }
}

TEST(CollReduceScatter, ChosenAlgorithmTakesAnySize) {
  const auto build = [](Schedule& s, const Team& t, const ReduceScatter& asked) {
    reduce_scatter(s, t, {}, asked);
  };
  for (const bool commutative : {false, true}) {
    check_reduce_scatter(build, 4, 1000, 5, commutative, false, kDense);
    check_reduce_scatter(build, 4, 2, 0, commutative, true, kDense);
  }
}

TEST(CollReduce, ZeroCountNeedsNoMessage) {
  Schedule schedule;
  Reduce asked;
  asked.type = kDense.type();
  asked.operation = kSum;
  reduce(schedule, {2, 5, 0, false}, {}, asked);
  allreduce(schedule, {2, 5, 0, false}, {}, asked);
  scan(schedule, {2, 5, 0, false}, asked);
  exscan(schedule, {2, 5, 0, false}, asked);
  EXPECT_TRUE(schedule.rounds().empty());
}

}  // namespace
}  // namespace starling::mpi::coll::testing

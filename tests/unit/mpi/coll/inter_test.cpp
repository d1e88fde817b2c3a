// SPDX-License-Identifier: BSD-3-Clause
/// @file  Collectives of intercommunicators: groups of different sizes, every root in either group. MPI 5.0
/// section 6.2.3.

#include "fake_world.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/select.hpp"
#include "pairs.hpp"

namespace starling::mpi::coll::testing {
namespace {

struct Sizes {
  int left, right;
};
constexpr Sizes kBothSizes[] = {{1, 1}, {1, 3}, {2, 1}, {3, 4}, {5, 2}};
constexpr std::uint64_t kCount = 5;

/// The root argument of process `i` when process `root` is the root.
[[nodiscard]] int root_seen_by(int i, int root, const Sizes& sizes) {
  const bool root_left = root < sizes.left, left = i < sizes.left;
  if (i == root) return kRootHere;
  if (left == root_left) return kNoPart;
  return root_left ? root : root - sizes.left;
}

/// Processes of the group that i does not belong to.
[[nodiscard]] std::pair<int, int> others(int i, const Sizes& sizes) {
  return i < sizes.left ? std::pair{sizes.left, sizes.left + sizes.right} : std::pair{0, sizes.left};
}

[[nodiscard]] Pair folded_range(int first, int last, std::uint64_t index) {
  Pair result = value(first, index);
  for (int i = first + 1; i < last; ++i) result = compose(result, value(i, index));
  return result;
}

/// All processes with a send buffer that holds their values and a receive buffer of `blocks` times kCount.
struct Inter {
  Inter(const Sizes& sizes, int blocks) : job(sizes.left, sizes.right) {
    for (int i = 0; i < job.size(); ++i) {
      sends.emplace_back(kGappy, kCount * 8);
      receives.emplace_back(kShifted, kCount * static_cast<std::uint64_t>(blocks));
      for (std::uint64_t e = 0; e < kCount * 8; ++e) sends[at(i)].set(e, value(i, e));
    }
  }
  Schedule& schedule(int i) { return job[i].execution.schedule; }
  const Team& team(int i) { return job[i].team; }
  void run() {
    ASSERT_TRUE(job.run());
    EXPECT_TRUE(job.world().empty());
  }
  Job job;
  std::vector<Memory> sends, receives;
};

TEST(CollInter, BarrierWaitsForBothGroups) {
  for (const Sizes& sizes : kBothSizes) {
    for (int late = 0; late < sizes.left + sizes.right; ++late) {
      Inter inter(sizes, 1);
      for (int i = 0; i < inter.job.size(); ++i) {
        if (i != late) barrier(inter.schedule(i), inter.team(i));
      }
      EXPECT_FALSE(inter.job.run());
      const bool late_left = late < sizes.left;
      for (int i = 0; i < inter.job.size(); ++i) {  // those who wait for the late one's group
        if (i != late && (i < sizes.left) != late_left) {
          EXPECT_FALSE(inter.job[i].execution.complete());
        }
      }
    }
    Inter inter(sizes, 1);
    for (int i = 0; i < inter.job.size(); ++i) barrier(inter.schedule(i), inter.team(i));
    inter.run();
  }
}

TEST(CollInter, RootedOperationsWorkFromEveryProcess) {
  for (const Sizes& sizes : kBothSizes) {
    for (int root = 0; root < sizes.left + sizes.right; ++root) {
      const auto [first, last] = others(root, sizes);
      Inter bcasts(sizes, 1), reduces(sizes, 1), gathers(sizes, 8), scatters(sizes, 1);
      const Type send = kGappy.type(), receive = kShifted.type();
      for (int i = 0; i < bcasts.job.size(); ++i) {
        const int seen = root_seen_by(i, root, sizes);
        Memory& buffer = i == root ? bcasts.sends[at(i)] : bcasts.receives[at(i)];
        bcast(bcasts.schedule(i), bcasts.team(i), {},
              {buffer.base(), kCount, i == root ? send : receive, seen});
        Memory operand(kShifted, kCount);
        for (std::uint64_t e = 0; e < kCount; ++e) reduces.receives[at(i)].set(e, value(i, e));
        Memory& result = reduces.receives[at(i)];
        reduce(reduces.schedule(i), reduces.team(i), {},
               {result.base(), result.base(), kCount, receive, kCompose, seen, false});
        gather(gathers.schedule(i), gathers.team(i), {},
               {gathers.sends[at(i)].base(), kCount, send,
                Blocks(gathers.receives[at(i)].base(), kCount, receive), seen, false});
        scatter(scatters.schedule(i), scatters.team(i), {},
                {Blocks(scatters.sends[at(i)].base(), kCount, send), scatters.receives[at(i)].base(), kCount,
                 receive, seen, false});
      }
      bcasts.run();
      reduces.run();
      gathers.run();
      scatters.run();
      for (std::uint64_t e = 0; e < kCount; ++e) {
        ASSERT_EQ(reduces.receives[at(root)].get(e), folded_range(first, last, e));
        for (int i = first; i < last; ++i) {
          ASSERT_EQ(bcasts.receives[at(i)].get(e), value(root, e));
          const auto block = static_cast<std::uint64_t>(i - first) * kCount;
          ASSERT_EQ(gathers.receives[at(root)].get(block + e), value(i, e));
          ASSERT_EQ(scatters.receives[at(i)].get(e), value(root, block + e));
        }
      }
    }
  }
}

TEST(CollInter, AllreduceGivesEachGroupTheOthersResult) {
  for (const Sizes& sizes : kBothSizes) {
    Inter inter(sizes, 1);
    for (int i = 0; i < inter.job.size(); ++i) {
      Memory& result = inter.receives[at(i)];
      allreduce(inter.schedule(i), inter.team(i), {},
                {inter.sends[at(i)].base(), result.base(), kCount, kGappy.type(), kCompose, 0, false});
    }
    inter.run();
    for (int i = 0; i < inter.job.size(); ++i) {
      const auto [first, last] = others(i, sizes);
      for (std::uint64_t e = 0; e < kCount; ++e)
        ASSERT_EQ(kGappy.get(inter.receives[at(i)].base(), e), folded_range(first, last, e));
    }
  }
}

TEST(CollInter, AllgatherAndAlltoallExchangeBlocks) {
  for (const Sizes& sizes : kBothSizes) {
    Inter all(sizes, 8), each(sizes, 8);
    const Type send = kGappy.type(), receive = kShifted.type();
    for (int i = 0; i < all.job.size(); ++i) {
      allgather(all.schedule(i), all.team(i), {},
                {all.sends[at(i)].base(), kCount, send, Blocks(all.receives[at(i)].base(), kCount, receive),
                 0, false});
      alltoall(each.schedule(i), each.team(i), {},
               {Blocks(each.sends[at(i)].base(), kCount, send),
                Blocks(each.receives[at(i)].base(), kCount, receive), false});
    }
    all.run();
    each.run();
    for (int i = 0; i < all.job.size(); ++i) {
      const auto [first, last] = others(i, sizes);
      const auto mine = static_cast<std::uint64_t>(i < sizes.left ? i : i - sizes.left) * kCount;
      for (int other = first; other < last; ++other) {
        const auto block = static_cast<std::uint64_t>(other - first) * kCount;
        for (std::uint64_t e = 0; e < kCount; ++e) {
          ASSERT_EQ(all.receives[at(i)].get(block + e), value(other, e));
          ASSERT_EQ(each.receives[at(i)].get(block + e), value(other, mine + e));
        }
      }
    }
  }
}

TEST(CollInter, ReduceScatterDividesTheOtherGroupsResult) {
  const Sizes sizes{2, 3};
  Inter inter(sizes, 8);
  for (int i = 0; i < 5; ++i) {
    ReduceScatter asked;
    asked.send = inter.sends[at(i)].base();
    asked.receive = inter.receives[at(i)].base();
    asked.count = i < 2 ? 6 : 4;  // 12 elements either way
    asked.type = kGappy.type();
    asked.operation = kCompose;
    reduce_scatter(inter.schedule(i), inter.team(i), {}, asked);
  }
  inter.run();
  for (int i = 0; i < 5; ++i) {
    const auto [first, last] = others(i, sizes);
    const std::uint64_t count = i < 2 ? 6 : 4, offset = count * static_cast<std::uint64_t>(i < 2 ? i : i - 2);
    for (std::uint64_t e = 0; e < count; ++e) {
      ASSERT_EQ(kGappy.get(inter.receives[at(i)].base(), e), folded_range(first, last, offset + e));
    }
  }
}

}  // namespace
}  // namespace starling::mpi::coll::testing

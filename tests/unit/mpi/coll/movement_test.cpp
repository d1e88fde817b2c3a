// SPDX-License-Identifier: BSD-3-Clause
/// @file  Every algorithm that moves data, against where each element has to end: sizes, roots, layouts, in
/// place.

#include "by_nodes.hpp"
#include "fake_world.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/select.hpp"
#include "pairs.hpp"

namespace starling::mpi::coll::testing {
namespace {

[[nodiscard]] const PairLayout& layout_of(int i) { return *kLayouts[at(i) % std::size(kLayouts)]; }

/// Counts and displacements with gaps between the blocks, some empty; `counts[i]` of block i.
struct Places {
  explicit Places(std::vector<std::int64_t> sizes) : counts(std::move(sizes)) {
    std::int64_t where = 0;
    for (std::size_t i = counts.size(); i-- > 0;) {  // the last block lies first
      displacements.insert(displacements.begin(), where);
      where += counts[i] + 1;
    }
    total = static_cast<std::uint64_t>(where);
  }
  [[nodiscard]] Ints count() const { return {nullptr, counts.data()}; }
  [[nodiscard]] Ints displacement() const { return {nullptr, displacements.data()}; }
  std::vector<std::int64_t> counts, displacements;
  std::uint64_t total = 0;
};

void finish(Job& job) {
  ASSERT_TRUE(job.run());
  EXPECT_TRUE(job.world().empty());
}

void check_bcast(void (*build)(Schedule&, const Team&, const Bcast&), int n, std::uint64_t count, int root) {
  SCOPED_TRACE("n " + std::to_string(n) + " count " + std::to_string(count) + " root " +
               std::to_string(root));
  Job job(n, 0, static_cast<unsigned>(n + root));
  std::vector<Memory> buffers;
  for (int rank = 0; rank < n; ++rank) buffers.emplace_back(layout_of(rank), count);  // layouts may differ
  for (int rank = 0; rank < n; ++rank) {
    Memory& buffer = buffers[at(rank)];
    if (rank == root) {
      for (std::uint64_t i = 0; i < count; ++i) buffer.set(i, value(root, i));
    }
    build(job[rank].execution.schedule, job[rank].team, {buffer.base(), count, layout_of(rank).type(), root});
  }
  finish(job);
  for (int rank = 0; rank < n; ++rank) {
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(buffers[at(rank)].get(i), value(root, i)) << "rank " << rank;
    ASSERT_TRUE(buffers[at(rank)].rest_is_blank()) << "rank " << rank;
  }
}

TEST(CollBcast, EveryAlgorithmReachesEveryRankFromEveryRoot) {
  for (const auto build : {bcast_binomial, bcast_scatter_ring, bcast_chain}) {
    for (const int n : kSizes) {
      for (int root = 0; root < n; ++root) {
        for (const std::uint64_t count : {1u, 7u, 300u}) check_bcast(build, n, count, root);
      }
    }
    check_bcast(build, 4, 40'000, 2);  // several segments
  }
}

TEST(CollBcast, ChosenAlgorithmTakesAnySize) {
  const auto build = [](Schedule& s, const Team& t, const Bcast& asked) { bcast(s, t, {}, asked); };
  for (const std::uint64_t count : {0u, 1u, 3000u, 100'000u}) {
    for (const int n : {1, 2, 3, 5}) check_bcast(build, n, count, n - 1);
  }
}

/// gather (and by `spread` gatherv) of blocks of `count` (+ rank % 3) elements.
void check_gather(void (*build)(Schedule&, const Team&, const Gather&), int n, std::uint64_t count, int root,
                  bool in_place, bool spread, bool everybody) {
  SCOPED_TRACE("n " + std::to_string(n) + " root " + std::to_string(root) + (in_place ? " in place" : "") +
               (spread ? " spread" : ""));
  Job job(n, 0, static_cast<unsigned>(n * 3 + root));
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < n; ++rank)
    counts.push_back(static_cast<std::int64_t>(count) + (spread ? rank % 3 : 0));
  const Places places(counts);
  const auto address = [&](int rank) {
    return static_cast<std::uint64_t>(spread ? places.displacements[at(rank)] : rank * counts[0]);
  };
  const std::uint64_t total = spread ? places.total : count * static_cast<std::uint64_t>(n);
  std::vector<Memory> sends, receives;
  std::vector<Gather> asked(at(n));
  std::vector<Type> types;
  for (int rank = 0; rank < n; ++rank) types.push_back(layout_of(rank + n).type());
  for (int rank = 0; rank < n; ++rank) {
    sends.emplace_back(layout_of(rank), static_cast<std::uint64_t>(counts[at(rank)]));
    receives.emplace_back(layout_of(rank + n), total);
  }
  for (int rank = 0; rank < n; ++rank) {
    const bool receiver = everybody || rank == root, here = in_place && receiver;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(counts[at(rank)]); ++i) {
      here ? receives[at(rank)].set(address(rank) + i, value(rank, i))
           : sends[at(rank)].set(i, value(rank, i));
    }
    Gather& part = asked[at(rank)];
    part.send = here ? nullptr : sends[at(rank)].base();
    part.count = here ? 0 : static_cast<std::uint64_t>(counts[at(rank)]);
    part.type = layout_of(rank).type();
    part.root = root;
    part.in_place = here;
    if (receiver) {
      part.receive =
          spread ? Blocks(receives[at(rank)].base(), places.count(), places.displacement(), types[at(rank)])
                 : Blocks(receives[at(rank)].base(), count, types[at(rank)]);
    }
    build(job[rank].execution.schedule, job[rank].team, part);
  }
  finish(job);
  for (int rank = 0; rank < n; ++rank) {
    if (!everybody && rank != root) continue;
    Memory& got = receives[at(rank)];
    for (int from = 0; from < n; ++from) {
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(counts[at(from)]); ++i) {
        ASSERT_EQ(got.get(address(from) + i), value(from, i))
            << "at " << rank << " from " << from << " element " << i;
      }
    }
    ASSERT_TRUE(got.rest_is_blank());
  }
}

TEST(CollGather, BinomialTreeReachesEveryRoot) {
  for (const int n : kSizes) {
    for (int root = 0; root < n; ++root) {
      for (const bool in_place : {false, true})
        check_gather(gather_binomial, n, 3, root, in_place, false, false);
    }
  }
}

TEST(CollGather, LinearTakesBlocksOfAnySizeAndPlace) {
  for (const int n : kSizes) {
    for (const bool in_place : {false, true}) {
      for (const bool spread : {false, true})
        check_gather(gather_linear, n, spread ? 0 : 2, n / 2, in_place, spread, false);
    }
  }
}

TEST(CollAllgather, EveryAlgorithmGivesEveryoneAllBlocks) {
  for (const int n : kSizes) {
    for (const bool in_place : {false, true}) {
      for (const bool spread : {false, true}) {
        check_gather(allgather_ring, n, spread ? 0 : 2, 0, in_place, spread, true);
        check_gather(allgather_bruck, n, spread ? 0 : 2, 0, in_place, spread, true);
      }
      if ((n & (n - 1)) == 0) check_gather(allgather_recursive_doubling, n, 3, 0, in_place, false, true);
    }
  }
}

TEST(CollAllgather, ChosenAlgorithmTakesAnySize) {
  const auto build = [](Schedule& s, const Team& t, const Gather& asked) { allgather(s, t, {}, asked); };
  for (const int n : {1, 2, 3, 4, 5, 8}) {
    for (const std::uint64_t count : {0u, 1u, 2000u, 9000u}) {
      for (const bool spread : {false, true}) check_gather(build, n, count, 0, false, spread, true);
    }
  }
}

void check_scatter(void (*build)(Schedule&, const Team&, const Scatter&), int n, std::uint64_t count,
                   int root, bool in_place, bool spread) {
  SCOPED_TRACE("n " + std::to_string(n) + " root " + std::to_string(root) + (in_place ? " in place" : ""));
  Job job(n, 0, static_cast<unsigned>(n * 5 + root));
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < n; ++rank)
    counts.push_back(static_cast<std::int64_t>(count) + (spread ? rank % 3 : 0));
  const Places places(counts);
  const PairLayout& layout = layout_of(n + root);
  const Type type = layout.type();
  Memory send(layout, spread ? places.total : count * static_cast<std::uint64_t>(n));
  std::vector<Memory> receives;
  for (int rank = 0; rank < n; ++rank) {
    receives.emplace_back(layout_of(rank), static_cast<std::uint64_t>(counts[at(rank)]));
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(counts[at(rank)]); ++i) {
      send.set(static_cast<std::uint64_t>(spread ? places.displacements[at(rank)] : rank * counts[0]) + i,
               value(rank, i));
    }
  }
  for (int rank = 0; rank < n; ++rank) {
    Scatter asked;
    if (rank == root) {
      asked.send = spread ? Blocks(send.base(), places.count(), places.displacement(), type)
                          : Blocks(send.base(), count, type);
      asked.in_place = in_place;
    }
    asked.receive = asked.in_place ? nullptr : receives[at(rank)].base();
    asked.count = asked.in_place ? 0 : static_cast<std::uint64_t>(counts[at(rank)]);
    asked.type = layout_of(rank).type();
    asked.root = root;
    build(job[rank].execution.schedule, job[rank].team, asked);
  }
  finish(job);
  for (int rank = 0; rank < n; ++rank) {
    if (in_place && rank == root) continue;
    for (std::uint64_t i = 0; i < receives[at(rank)].count(); ++i) {
      ASSERT_EQ(receives[at(rank)].get(i), value(rank, i)) << "rank " << rank << " element " << i;
    }
    ASSERT_TRUE(receives[at(rank)].rest_is_blank());
  }
}

TEST(CollScatter, BothAlgorithmsReachEveryRank) {
  for (const int n : kSizes) {
    for (int root = 0; root < n; ++root) {
      for (const bool in_place : {false, true}) {
        check_scatter(scatter_binomial, n, 3, root, in_place, false);
        check_scatter(scatter_linear, n, 3, root, in_place, false);
        check_scatter(scatter_linear, n, 0, root, in_place, true);
      }
    }
  }
}

/// How alltoall describes its blocks.
enum class Form { equal, counted, typed };

void check_alltoall(void (*build)(Schedule&, const Team&, const Alltoall&), int n, std::int64_t count,
                    Form form, bool in_place) {
  SCOPED_TRACE("n " + std::to_string(n) + " form " + std::to_string(static_cast<int>(form)) +
               (in_place ? " in place" : ""));
  Job job(n, 0, static_cast<unsigned>(n));
  const auto size = [&](int from, int to) { return form == Form::equal ? count : count + (from + to) % 3; };
  const PairLayout& layout = layout_of(n);
  const Type type = layout.type();
  const std::vector<Type> types(at(n), type);
  std::vector<Memory> sends, receives;
  std::vector<Places> places;
  for (int rank = 0; rank < n; ++rank) {
    std::vector<std::int64_t> counts;
    for (int to = 0; to < n; ++to) counts.push_back(size(rank, to));
    places.emplace_back(counts);  // symmetric: also what is received
    const std::uint64_t total =
        form == Form::equal ? static_cast<std::uint64_t>(count * n) : places.back().total;
    sends.emplace_back(layout, total);
    receives.emplace_back(layout, total);
  }
  const auto where = [&](int rank, int block) {
    return static_cast<std::uint64_t>(form == Form::equal ? block * count
                                                          : places[at(rank)].displacements[at(block)]);
  };
  std::vector<std::vector<std::int64_t>> bytes(at(n));
  for (int rank = 0; rank < n; ++rank) {
    for (int to = 0; to < n; ++to) {
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(size(rank, to)); ++i) {
        (in_place ? receives : sends)[at(rank)].set(where(rank, to) + i, value(rank * n + to, i));
      }
      bytes[at(rank)].push_back(static_cast<std::int64_t>(where(rank, to)) * type.extent);
    }
    const auto blocks = [&](Memory& memory) {
      if (form == Form::equal) return Blocks(memory.base(), static_cast<std::uint64_t>(count), type);
      if (form == Form::counted)
        return Blocks(memory.base(), places[at(rank)].count(), places[at(rank)].displacement(), type);
      return Blocks(memory.base(), places[at(rank)].count(), Ints{nullptr, bytes[at(rank)].data()},
                    types.data());
    };
    Alltoall asked;
    asked.receive = blocks(receives[at(rank)]);
    asked.in_place = in_place;
    if (!in_place) asked.send = blocks(sends[at(rank)]);
    build(job[rank].execution.schedule, job[rank].team, asked);
  }
  finish(job);
  for (int rank = 0; rank < n; ++rank) {
    for (int from = 0; from < n; ++from) {
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(size(from, rank)); ++i) {
        ASSERT_EQ(receives[at(rank)].get(where(rank, from) + i), value(from * n + rank, i))
            << "at " << rank << " from " << from;
      }
    }
    ASSERT_TRUE(receives[at(rank)].rest_is_blank());
  }
}

TEST(CollAlltoall, EveryAlgorithmExchangesEqualBlocks) {
  for (const int n : kSizes) {
    for (const auto build : {alltoall_bruck, alltoall_linear, alltoall_pairwise})
      check_alltoall(build, n, 3, Form::equal, false);
    check_alltoall(alltoall_in_place, n, 3, Form::equal, true);
  }
  check_alltoall(alltoall_linear, 70, 1, Form::equal, false);  // more ranks than one window
}

TEST(CollAlltoall, BlocksMayDifferInSizePlaceAndType) {
  for (const int n : kSizes) {
    for (const Form form : {Form::counted, Form::typed}) {
      check_alltoall(alltoall_linear, n, 0, form, false);
      check_alltoall(alltoall_pairwise, n, 1, form, false);
      check_alltoall(alltoall_in_place, n, 0, form, true);
    }
  }
}

TEST(CollAlltoall, ChosenAlgorithmTakesAnySize) {
  const auto build = [](Schedule& s, const Team& t, const Alltoall& asked) { alltoall(s, t, {}, asked); };
  for (const int n : {1, 2, 5, 9}) {
    for (const std::int64_t count : {0, 2, 100, 5000}) {
      for (const Form form : {Form::equal, Form::counted, Form::typed})
        check_alltoall(build, n, count, form, false);
      check_alltoall(build, n, count, Form::equal, true);
    }
  }
}

TEST(CollNodes, BlocksReachTheRootAndLeaveIt) {
  for (const int n : kSizes) {
    for (int root = 0; root < n; ++root) {
      for (const bool in_place : {false, true}) {
        each_lie<gather_nodes, Gather>(
            [&](auto build) { check_gather(build, n, 3, root, in_place, false, false); });
        each_lie<gatherv_nodes, Gather>(
            [&](auto build) { check_gather(build, n, 0, root, in_place, true, false); });
        each_lie<scatter_nodes, Scatter>(
            [&](auto build) { check_scatter(build, n, 3, root, in_place, false); });
        each_lie<scatterv_nodes, Scatter>(
            [&](auto build) { check_scatter(build, n, 0, root, in_place, true); });
      }
    }
  }
}

TEST(CollNodes, EverybodyGetsAllBlocks) {
  for (const int n : kSizes) {
    for (const bool in_place : {false, true}) {
      for (const bool spread : {false, true})
        each_lie<allgather_nodes, Gather>(
            [&](auto build) { check_gather(build, n, spread ? 0 : 2, 0, in_place, spread, true); });
    }
  }
}

TEST(CollNodes, BlocksAreExchanged) {
  for (const int n : kSizes) {
    for (const Form form : {Form::equal, Form::counted, Form::typed}) {
      for (const std::int64_t count : {form == Form::equal ? 3 : 0, 127}) {  // those of 129 go alone
        for (const bool in_place : {false, true})
          each_lie<alltoall_nodes, Alltoall>(
              [&](auto build) { check_alltoall(build, n, count, form, in_place); });
      }
    }
  }
}

TEST(CollNodes, LongBlocksGoAlone) {
  for (const int n : {2, 5, 9}) {
    each_lie<gatherv_nodes, Gather>(
        [&](auto build) { check_gather(build, n, 127, n / 2, false, true, false); });
    each_lie<scatterv_nodes, Scatter>([&](auto build) { check_scatter(build, n, 127, n / 2, false, true); });
  }
}

/// A barrier of `n` processes, of which one does not come; negative: all do.
void check_barrier(int n, int absent, const Hierarchy* hierarchy) {
  Job job(n);
  for (int rank = 0; rank < n; ++rank) {
    Schedule& schedule = job[rank].execution.schedule;
    job[rank].team.hierarchy = hierarchy;
    if (rank != absent)
      barrier(schedule, job[rank].team);
    else
      schedule.receive(rank, packed(nullptr, 0));  // never arrives
    schedule.next_round();
  }
  if (absent < 0) return finish(job);
  EXPECT_FALSE(job.run());
  for (int rank = 0; rank < n; ++rank)
    EXPECT_FALSE(job[rank].execution.complete()) << "rank " << rank << " of " << n << " without " << absent;
}

TEST(CollBarrier, NobodyLeavesBeforeTheLastHasCome) {
  for (const int n : kSizes) {
    for (int absent = -1; absent < n; ++absent) {
      check_barrier(n, absent, nullptr);
      for (const Lie lie : kLies) check_barrier(n, absent, &nodes_of(n, lie));
    }
  }
}

}  // namespace
}  // namespace starling::mpi::coll::testing

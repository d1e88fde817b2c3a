// SPDX-License-Identifier: BSD-3-Clause
/// @file  A member that gets no memory at all in a collective over several nodes: it takes part, all end, and
/// those whose data depend on it have an error.

#include "by_nodes.hpp"
#include "fake_world.hpp"
#include "mpi/coll/builders.hpp"
#include "pairs.hpp"

namespace starling::mpi::coll::testing {
namespace {

constexpr int kRanks = 7, kRoot = 2;
constexpr std::uint64_t kCount = 3;  // elements of a block, and of a vector
const Type kType = kDense.type();
const std::vector<std::int64_t> kCounts(kRanks, kCount);
const std::vector<std::int64_t> kStarts = {0, 3, 6, 9, 12, 15, 18};

/// One process's buffers, for a block of each rank.
struct Buffers {
  Memory send{kDense, kRanks*kCount}, receive{kDense, kRanks*kCount};
  [[nodiscard]] Blocks equal(Memory& memory) const { return Blocks(memory.base(), kCount, kType); }
  [[nodiscard]] Blocks counted(Memory& memory) const {
    return Blocks(memory.base(), Ints{nullptr, kCounts.data()}, Ints{nullptr, kStarts.data()}, kType);
  }
};

using Build = void (*)(Schedule&, const Team&, Buffers&);

template <auto kBuild>
void reduction(Schedule& schedule, const Team& team, Buffers& own) {
  kBuild(schedule, team, Reduce{own.send.base(), own.receive.base(), kCount, kType, kCompose, kRoot, false});
}
template <auto kBuild>
void gathering(Schedule& schedule, const Team& team, Buffers& own) {
  kBuild(schedule, team, Gather{own.send.base(), kCount, kType, own.equal(own.receive), kRoot, false});
}
template <auto kBuild>
void gathering_v(Schedule& schedule, const Team& team, Buffers& own) {
  kBuild(schedule, team, Gather{own.send.base(), kCount, kType, own.counted(own.receive), kRoot, false});
}
template <auto kBuild>
void scattering(Schedule& schedule, const Team& team, Buffers& own) {
  kBuild(schedule, team, Scatter{own.equal(own.send), own.receive.base(), kCount, kType, kRoot, false});
}
void scattering_v(Schedule& schedule, const Team& team, Buffers& own) {
  scatterv_nodes(schedule, team,
                 Scatter{own.counted(own.send), own.receive.base(), kCount, kType, kRoot, false});
}
void all_to_all(Schedule& schedule, const Team& team, Buffers& own) {
  alltoall_nodes(schedule, team, Alltoall{own.equal(own.send), own.equal(own.receive), false});
}
void all_to_all_in_place(Schedule& schedule, const Team& team, Buffers& own) {
  alltoall_nodes(schedule, team, Alltoall{{}, own.equal(own.receive), true});
}
void all_to_all_v(Schedule& schedule, const Team& team, Buffers& own) {
  alltoall_nodes(schedule, team, Alltoall{own.counted(own.send), own.counted(own.receive), false});
}
void reduce_scattering(Schedule& schedule, const Team& team, Buffers& own) {
  ReduceScatter asked;
  asked.send = own.send.base();
  asked.receive = own.receive.base();
  asked.count = kCount;
  asked.type = kType;
  asked.operation = kCompose;
  reduce_scatter_nodes(schedule, team, asked);
}

/// Who has to have an error.
enum class Told { all, root, from_root, nobody };

/// `kept`: the poor one has a little memory left from calls before.
void check(const char* name, Build build, Told told, bool kept, Lie lie, int poor) {
  SCOPED_TRACE(std::string(name) + " lie " + std::to_string(static_cast<int>(lie)) + " poor " +
               std::to_string(poor));
  Job job(kRanks);
  job.world().unequal = job.world().even_hollow = true;
  std::vector<Buffers> buffers(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    Schedule& schedule = job[rank].execution.schedule;
    if (rank == poor && kept) (void)schedule.scratch(1);
    if (rank == poor) schedule.clear();
    if (rank == poor) schedule.without_memory();
    Team team = job[rank].team;
    team.hierarchy = &nodes_of(kRanks, lie);
    build(schedule, team, buffers[static_cast<std::size_t>(rank)]);
  }
  ASSERT_TRUE(job.run());
  EXPECT_TRUE(job.world().empty());
  for (int rank = 0; rank < kRanks; ++rank) {
    const pml::Fault fault = job[rank].execution.fault();
    if (rank == poor) {
      EXPECT_EQ(fault, pml::Fault::no_memory);
    } else if (told == Told::all || (told == Told::root && rank == kRoot) ||
               (told == Told::from_root && poor == kRoot)) {
      EXPECT_NE(fault, pml::Fault::none) << "rank " << rank;
    }
  }
}

TEST(CollHollow, EverybodyEndsAndWhoNeedsTheOthersDataHasAnError) {
  struct {
    const char* name;
    Build build;
    Told told;
    bool kept;       // is needed: for sizes
    bool any_order;  // of ranks on nodes
  } const calls[] = {
      {"reduce", reduction<reduce_nodes>, Told::root, false, false},
      {"allreduce", reduction<allreduce_nodes>, Told::all, false, false},
      {"parts", reduction<allreduce_parts>, Told::all, false, false},
      {"scan", reduction<scan_nodes>, Told::nobody, false, false},
      {"exscan", reduction<exscan_nodes>, Told::nobody, false, false},
      {"reduce_scatter", reduce_scattering, Told::all, false, false},
      {"gather", gathering<gather_nodes>, Told::root, false, true},
      {"gatherv", gathering_v<gatherv_nodes>, Told::root, false, true},
      {"scatter", scattering<scatter_nodes>, Told::from_root, false, true},
      {"scatterv", scattering_v, Told::from_root, false, true},
      {"allgather", gathering<allgather_nodes>, Told::all, false, true},
      {"allgatherv", gathering_v<allgather_nodes>, Told::all, false, true},
      {"alltoall", all_to_all, Told::all, false, true},
      {"alltoall in place", all_to_all_in_place, Told::all, false, true},
      {"alltoallv", all_to_all_v, Told::all, true, true},
  };
  for (const auto& call : calls) {
    for (const Lie lie : kLies) {
      if (lie == Lie::dealt && !call.any_order) continue;
      for (int poor = 0; poor < kRanks; ++poor) check(call.name, call.build, call.told, call.kept, lie, poor);
    }
  }
}

}  // namespace
}  // namespace starling::mpi::coll::testing

// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/hierarchical: what the members of a group know afterwards, and what they ask the server for.

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>

#include "tests/unit/bootstrap/job.hpp"
#include "tests/unit/bootstrap/lists.hpp"

namespace starling::bootstrap {
namespace {

using starling::test::list;
using test::address_of;
using test::Job;
using test::Process;
using ::testing::HasSubstr;

using Ranks = std::vector<std::uint32_t>;
using Processes = std::vector<std::unique_ptr<Process>>;

/// How addresses are found; what the startup plan makes of each.
enum class Manager { direct, groups, names, world };

pmi::Capabilities server_of(Manager manager) {
  pmi::Capabilities server;
  server.server = "test";
  server.get_without_fence = manager == Manager::direct;
  server.group_fence = manager == Manager::groups;
  server.name_service = manager == Manager::names;
  return server;
}

Processes processes_of(Job& job) {
  Processes all;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) all.push_back(std::make_unique<Process>(job, rank));
  return all;
}

Ranks everybody(const Job& job) {
  Ranks ranks(job.size);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

Creation creation_of(const Job& job, Ranks ranks, const std::string& tag) {
  Creation creation{list(std::move(ranks)), tag};
  creation.exchange = true;
  creation.world = creation.members->size() > 1 && groups_need_world(GroupMode::automatic, job.server, true);
  return creation;
}

/// The groups create at once, each member in a thread; who has ended goes on taking messages until all have.
std::map<std::uint32_t, Result<ContextId>> create(const Job& job, Processes& all,
                                                  const std::vector<Ranks>& groups, const std::string& tag,
                                                  double seconds = 60) {
  std::map<std::uint32_t, Result<ContextId>> ids;
  std::mutex mutex;
  std::atomic<std::size_t> left = 0;
  for (const Ranks& ranks : groups) left += ranks.size();
  std::vector<std::thread> threads;
  for (const Ranks& ranks : groups) {
    for (const std::uint32_t rank : ranks) {
      threads.emplace_back([&, rank] {
        auto id = all[rank]->create(creation_of(job, ranks, tag),
                                    Deadline::after_ns(static_cast<std::uint64_t>(seconds * 1e9)));
        {
          const std::scoped_lock lock(mutex);
          ids.emplace(rank, std::move(id));
        }
        --left;
        while (left > 0) {
          all[rank]->progress();
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  return ids;
}

/// All have the same new id, and each has the address of each without asking anybody.
ContextId expect_met(Processes& all, const Ranks& ranks,
                     const std::map<std::uint32_t, Result<ContextId>>& ids) {
  const ContextId id = ids.at(ranks.front()) ? *ids.at(ranks.front()) : ContextId{};
  for (const std::uint32_t rank : ranks) {
    EXPECT_TRUE(ids.at(rank)) << "rank " << rank << ": " << ids.at(rank).error().text();
    if (!ids.at(rank)) continue;
    EXPECT_EQ(*ids.at(rank), id) << "rank " << rank;
    const std::uint64_t asked = all[rank]->client.asked();
    for (const std::uint32_t peer : ranks) {
      if (peer != rank) {
        EXPECT_EQ(all[rank]->known_address(peer), address_of(peer)) << rank << " of " << peer;
      }
    }
    EXPECT_EQ(all[rank]->client.asked(), asked)
        << "rank " << rank << " asked for what the exchange had brought";
  }
  return id;
}

std::uint64_t asked_of(const Processes& all) {
  return std::accumulate(
      all.begin(), all.end(), std::uint64_t{0},
      [](std::uint64_t sum, const auto& process) { return sum + process->client.asked(); });
}

class HierarchicalUnder : public testing::TestWithParam<Manager> {};

TEST_P(HierarchicalUnder, all_members_know_all_others_and_meet_once) {
  Job job(20, server_of(GetParam()));
  Processes all = processes_of(job);
  const Ranks ranks = everybody(job);
  const ContextId first = expect_met(all, ranks, create(job, all, {ranks}, "one"));
  const std::uint64_t asked = asked_of(all);
  const ContextId second = expect_met(all, ranks, create(job, all, {ranks}, "two"));
  EXPECT_NE(first, second);
  const Ranks some = {1, 4, 5, 17};
  expect_met(all, some, create(job, all, {some}, "some"));
  EXPECT_EQ(asked_of(all), asked) << "they had met before";
  EXPECT_TRUE(job.names.empty());
}

TEST_P(HierarchicalUnder, the_server_is_asked_by_roots_alone_and_little) {
  Job job(60, server_of(GetParam()));  // 20 nodes
  Processes all = processes_of(job);
  expect_met(all, everybody(job), create(job, all, {everybody(job)}, "cost"));
  const std::uint64_t fence = GetParam() == Manager::world || GetParam() == Manager::names ? 1 : 0;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    const pmi::Component::Counters counters = all[rank]->client.counters();
    const bool root = rank % 3 == 0;
    // Everybody enters the one fence of the world, and puts for those who look for it, if they do.
    EXPECT_LE(counters.fences, root ? 1u : fence) << rank;
    if (!root) {
      EXPECT_EQ(counters.gets + counters.other, 0u) << rank;
    }
    // The first five roots have others below them, which look for them.
    const bool puts = fence == 1 || (root && rank / 3 < 5);
    EXPECT_EQ(counters.puts, puts ? 1u : 0u) << rank;
    if (GetParam() != Manager::direct) {
      EXPECT_LE(counters.gets, rank == 0 ? 0u : 1u) << rank;
    }
  }
}

TEST_P(HierarchicalUnder, groups_side_by_side_find_each_other) {
  Job job(12, server_of(GetParam()));
  Processes all = processes_of(job);
  const std::vector<Ranks> groups = {{0, 3, 6, 9}, {1, 4, 7, 10}, {2, 5, 8, 11}};
  const auto ids = create(job, all, groups, "side");
  for (const Ranks& ranks : groups) expect_met(all, ranks, ids);
}

TEST_P(HierarchicalUnder, knowing_all_members_is_not_having_met) {
  Job job(9, server_of(GetParam()));
  Processes all = processes_of(job);
  // Rank 0 knows 3 and 6 after two meetings; 3 and 6 do not know each other.
  expect_met(all, {0, 3}, create(job, all, {{0, 3}, {1, 4}, {2, 5}, {6, 7, 8}}, "first"));
  expect_met(all, {0, 6}, create(job, all, {{0, 6}}, "second"));
  expect_met(all, {0, 3, 6}, create(job, all, {{0, 3, 6}}, "third"));
}

std::string name_of_manager(const testing::TestParamInfo<Manager>& chosen) {
  constexpr const char* kNames[] = {"direct", "groups", "names", "world"};
  return kNames[static_cast<int>(chosen.param)];
}

INSTANTIATE_TEST_SUITE_P(Managers, HierarchicalUnder,
                         testing::Values(Manager::direct, Manager::groups, Manager::names, Manager::world),
                         name_of_manager);

TEST(Hierarchical, alone_asks_nothing) {
  Job job(3, server_of(Manager::world));
  Processes all = processes_of(job);
  const auto ids = create(job, all, {{1}}, "alone");
  EXPECT_TRUE(ids.at(1));
  EXPECT_EQ(asked_of(all), 0u);
}

TEST(Hierarchical, on_one_node_asks_nothing) {
  Job job(9, server_of(Manager::groups));
  Processes all = processes_of(job);
  const auto ids = create(job, all, {{3, 4, 5}}, "node");
  EXPECT_EQ(*ids.at(3), *ids.at(5));
  EXPECT_EQ(asked_of(all), 0u);
}

TEST(Hierarchical, who_does_not_come_is_named_and_no_name_stays) {
  for (const Manager manager : {Manager::groups, Manager::names}) {
    Job job(9, server_of(manager));
    Processes all = processes_of(job);
    // Rank 6, a root, is missing; its group says so when the deadline has passed.
    std::map<std::uint32_t, Result<ContextId>> ids;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (const std::uint32_t rank : {0u, 3u}) {
      threads.emplace_back([&, rank] {
        auto id = all[rank]->create(creation_of(job, {0, 3, 6}, "missing"), Deadline::after_ns(300'000'000));
        const std::scoped_lock lock(mutex);
        ids.emplace(rank, std::move(id));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::uint32_t rank : {0u, 3u}) {
      ASSERT_FALSE(ids.at(rank)) << rank;
      EXPECT_EQ(ids.at(rank).error().code, Errc::timed_out) << ids.at(rank).error().text();
    }
    EXPECT_TRUE(job.names.empty()) << "a published name stays behind";
    if (manager == Manager::names) {
      EXPECT_THAT(ids.at(0).error().text(), HasSubstr("6"));
    }
  }
}

TEST(Hierarchical, a_fence_that_is_not_ended_is_gone_around) {
  for (const bool names : {true, false}) {
    for (const std::set<std::uint32_t>& mute : {std::set<std::uint32_t>{0}, {3, 9}, {0, 3, 6, 9}}) {
      Job job(12, server_of(Manager::groups));
      job.server.name_service = names;
      job.mute = mute;
      // With names after a second, without after half of bootstrap_timeout.
      job.settings = {"STARLING_MCA_bootstrap_fence_timeout=1", "STARLING_MCA_bootstrap_timeout=2"};
      Processes all = processes_of(job);
      const Ranks ranks = everybody(job);
      expect_met(all, ranks, create(job, all, {ranks}, "lost"));
      EXPECT_TRUE(job.names.empty()) << names << mute.size();
      EXPECT_EQ(job.fences.contains("world"), !names) << mute.size();
    }
  }
}

}  // namespace
}  // namespace starling::bootstrap

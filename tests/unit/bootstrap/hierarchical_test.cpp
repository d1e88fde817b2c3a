// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/hierarchical: what its members ask the server for, and what they know without it.

#include <gmock/gmock.h>

#include <numeric>

#include "plugins/bootstrap/hierarchical/component.hpp"
#include "tests/conformance/bootstrap/meeting.hpp"

namespace starling::bootstrap {
namespace {

using test::address_of;
using test::creation_of;
using test::everybody;
using test::Manager;
using test::Processes;
using test::processes_of;
using test::Ranks;
using test::server_of;
using ::testing::HasSubstr;

/// Of processes with the component of this plugin.
struct Job : test::Job {
  Job(std::uint32_t count, pmi::Capabilities can)
      : test::Job(count, std::move(can),
                  [](const Args& args) { return std::make_shared<Hierarchical>(args); }) {}
};

std::map<std::uint32_t, Result<ContextId>> create(const Job& job, Processes& all,
                                                  const std::vector<Ranks>& groups, const std::string& tag) {
  return test::create(job, all, groups, tag, true, Deadline::after_seconds(60));
}
ContextId expect_met(Processes& all, const Ranks& ranks,
                     const std::map<std::uint32_t, Result<ContextId>>& ids) {
  return test::expect_met(all, ranks, ids, true);
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

INSTANTIATE_TEST_SUITE_P(Managers, HierarchicalUnder, test::all_managers(), test::name_of_manager);

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
        auto id =
            all[rank]->create(creation_of(job, {0, 3, 6}, "missing", true), Deadline::after_ns(300'000'000));
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

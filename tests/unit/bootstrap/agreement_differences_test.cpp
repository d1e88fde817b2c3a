// SPDX-License-Identifier: BSD-3-Clause
// Members that do not ask for the same: groups in other orders, other parameters.

#include <gtest/gtest.h>

#include "params/decl.hpp"
#include "tests/unit/bootstrap/agreement_harness.hpp"

namespace starling::bootstrap {
namespace {

using namespace agreement_test;

/// Each rank with a list of its own; returns the errors.
std::vector<std::string> errors_of(std::map<std::uint32_t, std::unique_ptr<Process>>& processes,
                                   const std::vector<std::vector<std::uint32_t>>& lists) {
  std::vector<std::string> errors(lists.size());
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < lists.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const auto id = processes.at(rank)->create(list(lists[rank]), "t", Deadline::after_seconds(600));
      errors[rank] = id ? "none" : id.error().text();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

TEST(Agreement, different_orders_of_the_group_are_an_error_on_all_members) {
  for (const std::uint32_t other : {0u, 3u, 6u}) {
    Network network;
    auto processes = processes_of(network, 7);
    std::vector<std::vector<std::uint32_t>> lists(7, {0, 1, 2, 3, 4, 5, 6});
    lists[other] = {1, 0, 2, 3, 4, 5, 6};
    for (const std::string& error : errors_of(processes, lists))
      EXPECT_NE(error.find("in different orders"), std::string::npos) << error;
    for (auto& [rank, process] : processes) EXPECT_EQ(process->agreement.open(), 0u);
  }
}

TEST(Agreement, the_same_tag_can_follow_different_orders_at_once) {
  for (int round = 0; round < 20; ++round) {
    Network network;
    auto processes = processes_of(network, 7);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < 7; ++rank) {
      threads.emplace_back([&, rank] {
        const auto other = rank == 6 ? list({1, 0, 2, 3, 4, 5, 6}) : test::run(0, 7);
        const auto bad = processes.at(rank)->create(other, "t", Deadline::after_seconds(600));
        EXPECT_FALSE(bad);
        const auto good = processes.at(rank)->create(test::run(0, 7), "t", Deadline::after_seconds(600));
        EXPECT_TRUE(good) << good.error().text();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (auto& [rank, process] : processes) EXPECT_EQ(process->agreement.open(), 0u);
  }
}

TEST(Agreement, nothing_is_sent_to_a_parent_that_has_answered) {
  Network network;
  auto processes = processes_of(network, 2);
  for (const std::string& error : errors_of(processes, {{0, 1}, {1, 0}}))
    EXPECT_NE(error.find("rank 0 and rank 1 give the members of the group in different orders"),
              std::string::npos)
        << error;
  EXPECT_EQ(network.sent, 1u) << "a join, and no withdrawal: the parent may have left";
}

params::Registry registry_with(const std::string& value) {
  static constexpr params::Decl kDecls[] = {
      params::equal_everywhere(params::choice("way", "auto", "auto|always|never", "How.")),
      params::integer("own", "0", 0, 9, "Each process its own.")};
  params::Registry registry;
  params::Places places;
  if (!value.empty())
    places.environment = {"STARLING_MCA_way=" + value, "STARLING_MCA_own=" + std::to_string(value.size())};
  EXPECT_TRUE(registry.load(places));
  EXPECT_TRUE(registry.add("test", kDecls));
  return registry;
}

TEST(Agreement, different_parameters_are_an_error_on_all_that_names_both_origins) {
  const params::Registry usual = registry_with(""), unusual = registry_with("never");
  for (const std::uint32_t other : {0u, 1u, 6u}) {
    Network network;
    std::map<std::uint32_t, std::unique_ptr<Process>> processes;
    std::vector<Settings> settings;
    for (std::uint32_t rank = 0; rank < 7; ++rank)
      settings.push_back(Settings::of(rank == other ? unusual : usual, "v1", "rank " + std::to_string(rank)));
    for (std::uint32_t rank = 0; rank < 7; ++rank)
      processes[rank] = std::make_unique<Process>(network, rank, &settings[rank]);
    const std::string unusual_side =
        "'never' on rank " + std::to_string(other) + " (environment STARLING_MCA_way)";
    for (const std::string& error :
         errors_of(processes, std::vector(7, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}))) {
      EXPECT_NE(error.find("way: "), std::string::npos) << error;
      EXPECT_NE(error.find(unusual_side), std::string::npos) << error;
      EXPECT_NE(error.find("(default)"), std::string::npos) << error;
      EXPECT_EQ(error.find("own"), std::string::npos) << error;
    }
  }
}

TEST(Agreement, who_asks_a_member_that_has_given_up_is_told_why) {
  const params::Registry usual = registry_with(""), unusual = registry_with("never");
  const Settings settings[] = {Settings::of(usual, "v1", "rank 0"), Settings::of(usual, "v1", "rank 1"),
                               Settings::of(unusual, "v1", "rank 2")};
  Network network;
  network.now_ns = 1;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    processes[rank] = std::make_unique<Process>(network, rank, &settings[rank]);
  bool apart = true;  // rank 0 has not begun, and nobody can send to it
  for (std::uint32_t rank = 1; rank < 3; ++rank)
    processes[rank]->reaches = [&](ProcId to) { return to.rank != 0 || !apart; };
  // Rank 1 hears of rank 2's settings by its question, and gives up.
  AgreementMessage join;
  const ProcListPtr all = test::run(0, 3);
  const Key key = group_key(Worlds(), *all, "t");
  join.key_high = key.high;
  join.key_low = key.low;
  join.settings = settings[2].hash();
  processes[1]->agreement.on_control(ProcId{0, 2}, std::as_bytes(std::span<AgreementMessage, 1>(&join, 1)));
  std::atomic<bool> ended = false;
  std::thread other([&] {
    while (!ended) processes[2]->progress();
  });
  EXPECT_FALSE(processes[1]->create(all, "t", Deadline::after_seconds(60)));
  apart = false;
  network.inboxes[0].clear();
  std::thread gave_up([&] {
    while (!ended) processes[1]->progress();
  });
  std::thread clock([&] {
    while (!ended) {
      const std::scoped_lock lock(network.mutex);
      network.now_ns += 1'000'000'000;
    }
  });
  const auto late = processes[0]->create(all, "t", Deadline::after_seconds(60));
  ended = true;
  other.join();
  gave_up.join();
  clock.join();
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().text().find("'never' on rank 2"), std::string::npos) << late.error().text();
}

}  // namespace
}  // namespace starling::bootstrap

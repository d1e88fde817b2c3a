// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Groups that make communicators at once, and what their members know afterwards. Layer: tests.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "frameworks/bootstrap/group_mode.hpp"
#include "tests/conformance/bootstrap/job.hpp"
#include "tests/conformance/bootstrap/lists.hpp"

namespace starling::bootstrap::test {

using Ranks = std::vector<std::uint32_t>;
using Processes = std::vector<std::unique_ptr<Process>>;

/// How addresses are found; what the startup plan makes of each.
enum class Manager { direct, groups, names, world };

inline pmi::Capabilities server_of(Manager manager) {
  pmi::Capabilities server;
  server.server = "test";
  server.get_without_fence = manager == Manager::direct;
  server.group_fence = manager == Manager::groups;
  server.name_service = manager == Manager::names;
  return server;
}

inline Processes processes_of(Job& job) {
  Processes all;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) all.push_back(std::make_unique<Process>(job, rank));
  return all;
}

inline Ranks everybody(const Job& job) {
  Ranks ranks(job.size);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

inline Creation creation_of(const Job& job, Ranks ranks, const std::string& tag, bool tree) {
  Creation creation{starling::test::list(std::move(ranks)), tag};
  creation.exchange = true;
  creation.world = creation.members->size() > 1 && groups_need_world(GroupMode::automatic, job.server, tree);
  return creation;
}

/// The groups create at once, each member in a thread; who has ended goes on taking messages until all have.
inline std::map<std::uint32_t, Result<ContextId>> create(const Job& job, Processes& all,
                                                         const std::vector<Ranks>& groups,
                                                         const std::string& tag, bool tree,
                                                         Deadline deadline) {
  std::map<std::uint32_t, Result<ContextId>> ids;
  std::mutex mutex;
  std::atomic<std::size_t> left = 0;
  for (const Ranks& ranks : groups) left += ranks.size();
  std::vector<std::thread> threads;
  for (const Ranks& ranks : groups) {
    for (const std::uint32_t rank : ranks) {
      threads.emplace_back([&, rank] {
        auto id = all[rank]->create(creation_of(job, ranks, tag, tree), deadline);
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

/// All have the same new id, and each has the address of each. `known`: without asking anybody.
inline ContextId expect_met(Processes& all, const Ranks& ranks,
                            const std::map<std::uint32_t, Result<ContextId>>& ids, bool known) {
  const ContextId id = ids.at(ranks.front()) ? *ids.at(ranks.front()) : ContextId{};
  for (const std::uint32_t rank : ranks) {
    EXPECT_TRUE(ids.at(rank)) << "create() on rank " << rank << ": " << ids.at(rank).error().text();
    if (!ids.at(rank)) continue;
    EXPECT_EQ(ids.at(rank)->bits, id.bits)
        << "create() gives rank " << rank << " another context id than rank " << ranks.front()
        << ": it is the same on each member";
    const std::uint64_t asked = all[rank]->client.asked();
    for (const std::uint32_t peer : ranks) {
      if (peer != rank) {
        const auto found = all[rank]->known_address(peer);
        EXPECT_TRUE(found) << "rank " << rank << " has no address of rank " << peer
                           << " after create() with it";
        if (found) {
          EXPECT_EQ(text_of(*found), text_of(address_of(peer)))
              << "address() gives rank " << rank << " another address for rank " << peer
              << " than that one has published";
        }
      }
    }
    if (!known) continue;
    EXPECT_EQ(all[rank]->client.asked(), asked)
        << "rank " << rank << " asked for what the exchange had brought";
  }
  return id;
}

inline std::string name_of_manager(const testing::TestParamInfo<Manager>& chosen) {
  constexpr const char* kNames[] = {"direct", "groups", "names", "world"};
  return kNames[static_cast<int>(chosen.param)];
}

inline auto all_managers() {
  return testing::Values(Manager::direct, Manager::groups, Manager::names, Manager::world);
}

}  // namespace starling::bootstrap::test

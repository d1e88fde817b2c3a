// SPDX-License-Identifier: BSD-3-Clause
// Every bootstrap: the members of a group agree on one new id and learn each other's addresses, whatever the
// process manager can do; who does not come is no reason to wait for ever.

#include <algorithm>

#include "tests/conformance/bootstrap/meeting.hpp"
#include "tests/conformance/patience.hpp"
#include "tests/conformance/plugin.hpp"

namespace starling::conformance {
namespace {

using namespace bootstrap::test;  // the job and its groups

class BootstrapUnder : public testing::TestWithParam<Manager> {
 protected:
  static std::shared_ptr<bootstrap::Component> make(const bootstrap::Args& args) {
    auto made = plugin_under_test().create<bootstrap::Framework>(args);
    if (!made && made.error().code == Errc::unsupported) {  // not for this process manager
      declined_ = made.error().text();
      return nullptr;
    }
    EXPECT_TRUE(made) << "the factory cannot make a component: " << made.error().text();
    if (!made) return nullptr;
    return std::shared_ptr<bootstrap::Component>(std::move(*made));
  }
  void SetUp() override {
    declined_.clear();
    start(1);
    all_.clear();
    job_.reset();
    if (!declined_.empty()) GTEST_SKIP() << "the plugin declines: " << declined_;
  }
  /// Processes 0 to count - 1, three on each node.
  void start(std::uint32_t count) {
    job_ = std::make_unique<Job>(count, server_of(GetParam()), &make);
    job_->parameters = [] { return test_parameters(); };
    all_ = processes_of(*job_);
  }
  [[nodiscard]] bool works() const {
    for (const auto& each : all_) {
      if (each->component == nullptr) return false;
    }
    return true;
  }
  /// As the runtime, which knows one bootstrap with a tree of roots (mpi/runtime/plan.hpp).
  static bool has_tree() { return plugin_under_test().descriptor().name.view() == "hierarchical"; }
  using Ids = std::map<std::uint32_t, Result<ContextId>>;
  Ids try_to_meet(const std::vector<Ranks>& groups, const std::string& tag) {
    return create(*job_, all_, groups, tag, has_tree(), patience());
  }
  /// Not every bootstrap can do it with every process manager; then it says so to all.
  static bool refused(const Ids& ids) {
    return std::all_of(ids.begin(), ids.end(), [](const auto& each) {
      return !each.second && each.second.error().code == Errc::unsupported;
    });
  }
  std::vector<ContextId> expect_all_met(const std::vector<Ranks>& groups, const Ids& ids) {
    std::vector<ContextId> agreed;
    for (const Ranks& ranks : groups) agreed.push_back(expect_met(all_, ranks, ids, false));
    return agreed;
  }
  std::vector<ContextId> meet(const std::vector<Ranks>& groups, const std::string& tag) {
    return expect_all_met(groups, try_to_meet(groups, tag));
  }
  Job& job() { return *job_; }
  Processes& all() { return all_; }

 private:
  inline static std::string declined_;
  std::unique_ptr<Job> job_;
  Processes all_;
};

TEST_P(BootstrapUnder, all_members_agree_and_know_each_other) {
  start(20);
  ASSERT_TRUE(works());
  const auto first = meet({everybody(job())}, "one");
  const auto second = meet({everybody(job())}, "two");
  EXPECT_NE(first[0].bits, second[0].bits)
      << "two communicators have the same context id: messages would mix";
  const std::vector<Ranks> some{{1, 4, 5, 17}};
  if (const Ids ids = try_to_meet(some, "some"); !refused(ids)) expect_all_met(some, ids);
  EXPECT_TRUE(job().names.empty()) << "a name that it published stays behind: " << job().names.begin()->first;
}

TEST_P(BootstrapUnder, groups_side_by_side_find_each_other) {
  start(12);
  ASSERT_TRUE(works());
  const std::vector<Ranks> groups{{0, 3, 6, 9}, {1, 4, 7, 10}, {2, 5, 8, 11}};
  const Ids ids = try_to_meet(groups, "side");
  if (refused(ids)) GTEST_SKIP() << ids.at(0).error().text();
  expect_all_met(groups, ids);
}

TEST_P(BootstrapUnder, knowing_all_members_is_not_having_met) {
  start(9);
  ASSERT_TRUE(works());
  // Rank 0 knows 3 and 6 after two meetings; 3 and 6 do not know each other.
  const std::vector<Ranks> groups{{0, 3}, {1, 4}, {2, 5}, {6, 7, 8}};
  const Ids ids = try_to_meet(groups, "first");
  if (refused(ids)) GTEST_SKIP() << ids.at(0).error().text();
  expect_all_met(groups, ids);
  meet({{0, 6}}, "second");
  meet({{0, 3, 6}}, "third");
}

TEST_P(BootstrapUnder, one_member_needs_nobody) {
  start(3);
  ASSERT_TRUE(works());
  const Ids ids = try_to_meet({{1}}, "alone");
  if (refused(ids)) GTEST_SKIP() << ids.at(1).error().text();
  EXPECT_TRUE(ids.at(1)) << "a process alone: " << ids.at(1).error().text();
}

TEST_P(BootstrapUnder, ids_are_fresh) {
  start(6);
  ASSERT_TRUE(works());
  std::vector<std::uint64_t> ids{meet({everybody(job())}, "one")[0].bits};
  for (int i = 0; i < 3; ++i) {
    const auto next = all()[0]->component->next_context_id();
    ASSERT_TRUE(next) << next.error().text();
    ids.push_back(next->bits);
  }
  ids.push_back(meet({everybody(job())}, "two")[0].bits);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end())
      << "a process gives one context id to two communicators: messages would mix";
}

TEST_P(BootstrapUnder, who_does_not_come_is_a_time_out) {
  if (GetParam() == Manager::direct || GetParam() == Manager::world)
    GTEST_SKIP() << "where values are asked for again and again, bootstrap_timeout ends it, not the deadline";
  start(9);
  ASSERT_TRUE(works());
  Ids ids;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (const std::uint32_t rank : {0u, 3u}) {  // and 6 does not come
    threads.emplace_back([&, rank] {
      auto id = all()[rank]->create(creation_of(job(), {0, 3, 6}, "missing", has_tree()),
                                    Deadline::after_ns(300'000'000));
      const std::scoped_lock lock(mutex);
      ids.emplace(rank, std::move(id));
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (refused(ids)) GTEST_SKIP() << ids.at(0).error().text();
  for (const auto& [rank, id] : ids) {
    if (id) continue;  // it needed nothing of who is missing
    EXPECT_EQ(id.error().code, Errc::timed_out)
        << "a member that does not arrive before the deadline is timed_out: " << id.error().text();
  }
  EXPECT_FALSE(ids.at(0) && ids.at(3)) << "a communicator is complete without one of its members";
  EXPECT_TRUE(job().names.empty()) << "a name that it published stays behind: " << job().names.begin()->first;
}

INSTANTIATE_TEST_SUITE_P(Managers, BootstrapUnder, all_managers(), name_of_manager);

}  // namespace
}  // namespace starling::conformance

// SPDX-License-Identifier: BSD-3-Clause
// The startup plan, over all combinations of what transports declare, what the process manager can do and
// what the user chose.

#include "mpi/runtime/plan.hpp"

#include <gtest/gtest.h>

namespace starling::mpi {
namespace {

struct Case {
  btl::AddressSource address;
  bool accepts, before, after, lazy, direct, async;
  std::uint32_t members;
  std::int64_t cutoff;
  BarrierChoice init, finalize;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const bool both[] = {false, true};
  const BarrierChoice choices[] = {BarrierChoice::automatic, BarrierChoice::always, BarrierChoice::never};
  for (const auto address : {btl::AddressSource::computed, btl::AddressSource::published})
    for (const bool accepts : both)
      for (const bool before : both)
        for (const bool after : both)
          for (const bool lazy : both)
            for (const bool direct : both)
              for (const bool async : both)
                for (const std::uint32_t members : {1u, 2u, 64u})
                  for (const std::int64_t cutoff : {0, 64, 65})
                    for (const auto init : choices)
                      for (const auto finalize : choices)
                        cases.push_back({address, accepts, before, after, lazy, direct, async, members,
                                         cutoff, init, finalize});
  return cases;
}

PlanInput input_of(const Case& c) {
  PlanInput input;
  input.transports.push_back({"self", {}});
  input.transports.push_back({"probe", {c.address, c.accepts, c.before, c.after, c.lazy}});
  input.pmi.get_without_fence = c.direct;
  input.pmi.server = "test";
  input.members = c.members;
  input.add_procs_cutoff = c.cutoff;
  input.async_modex = c.async;
  input.init_barrier = c.init;
  input.finalize_barrier = c.finalize;
  return input;
}

TEST(StartupPlan, exchanges_addresses_only_if_some_transport_publishes_them) {
  for (const Case& c : all_cases()) {
    const StartupPlan plan = make_plan(input_of(c));
    auto expected = StartupPlan::Exchange::none;
    if (c.address == btl::AddressSource::published && c.members > 1) {
      expected = c.async && c.direct ? StartupPlan::Exchange::direct : StartupPlan::Exchange::fence;
    }
    ASSERT_EQ(plan.exchange, expected) << plan.exchange_reason;
    PlanInput tree = input_of(c);
    tree.roots_tree = true;
    if (expected == StartupPlan::Exchange::fence) expected = StartupPlan::Exchange::tree;
    ASSERT_EQ(make_plan(tree).exchange, expected);
  }
}

TEST(StartupPlan, runs_a_barrier_when_a_transport_asks_or_the_user_insists_and_only_then) {
  for (const Case& c : all_cases()) {
    const StartupPlan plan = make_plan(input_of(c));
    const auto runs = [&](BarrierChoice choice, bool asked) {
      if (c.members == 1 || choice == BarrierChoice::never) return false;
      return choice == BarrierChoice::always || asked;
    };
    // A published address is seen only once its owner is ready; a computed one says nothing.
    const bool bounces = !c.accepts && c.address == btl::AddressSource::computed;
    ASSERT_EQ(plan.init_barrier, runs(c.init, c.before || bounces)) << plan.init_barrier_reason;
    ASSERT_EQ(plan.finalize_barrier, runs(c.finalize, c.after)) << plan.finalize_barrier_reason;
  }
}

TEST(StartupPlan, several_networks_need_a_barrier_after_the_last_message) {
  PlanInput input = input_of({btl::AddressSource::published, true, false, false, true, false, false, 2, 0,
                              BarrierChoice::automatic, BarrierChoice::automatic});
  input.networks = 1;
  EXPECT_FALSE(make_plan(input).finalize_barrier);
  input.networks = 2;
  EXPECT_TRUE(make_plan(input).finalize_barrier);
  EXPECT_FALSE(make_plan(input).init_barrier);
}

TEST(StartupPlan, a_barrier_that_only_the_user_wants_is_for_the_whole_world) {
  Case c{btl::AddressSource::computed, true, false, false, true, false, false, 2, 0, BarrierChoice::always,
         BarrierChoice::always};
  PlanInput input = input_of(c);
  EXPECT_TRUE(make_plan(input).init_barrier);
  input.everybody = false;
  EXPECT_FALSE(make_plan(input).init_barrier);
  EXPECT_FALSE(make_plan(input).finalize_barrier);
  c.before = true;
  input = input_of(c);
  input.everybody = false;
  EXPECT_TRUE(make_plan(input).init_barrier) << "asked for by the transport as well";
}

TEST(StartupPlan, says_how_roots_find_their_parents) {
  const Case c{
      btl::AddressSource::published, true, false, false, true, false, false, 64, 0, BarrierChoice::automatic,
      BarrierChoice::automatic};
  using bootstrap::GroupMode;
  for (const bool direct : {false, true})
    for (const bool group : {false, true})
      for (const bool names : {false, true})
        for (const bool everybody : {false, true})
          for (const GroupMode mode :
               {GroupMode::automatic, GroupMode::native, GroupMode::lookup, GroupMode::world}) {
            PlanInput input = input_of(c);
            input.roots_tree = true;
            input.everybody = everybody;
            input.group_mode = mode;
            input.pmi.get_without_fence = direct;
            input.pmi.group_fence = group;
            input.pmi.name_service = names;
            std::string expected = "with a fence of the world";
            if (mode == GroupMode::native) expected = group ? "with a fence of the roots" : "not at all";
            if (mode == GroupMode::lookup) expected = names ? "by published names" : "not at all";
            if (mode == GroupMode::automatic && names && !everybody) expected = "by published names";
            if (mode == GroupMode::automatic && group) expected = "with a fence of the roots";
            if (mode == GroupMode::automatic && direct) expected = "by one get each";
            const std::string reason = make_plan(input).exchange_reason;
            ASSERT_NE(reason.find(expected), std::string::npos) << reason << ", expected " << expected;
          }
}

TEST(StartupPlan, all_processes_meet_where_groups_have_no_other_way) {
  using bootstrap::GroupMode;
  PlanInput input;
  input.members = 2;
  input.far_world = true;
  input.everybody = false;
  for (const bool tree : {false, true}) {
    input.roots_tree = tree;
    input.group_mode = GroupMode::world;
    EXPECT_TRUE(make_plan(input).meets_world);
    EXPECT_NE(make_plan(input).lines().back().find("fence of all processes"), std::string::npos);
    input.group_mode = GroupMode::automatic;
    EXPECT_EQ(make_plan(input).meets_world, tree) << "flat refuses such groups instead";
  }
  input.pmi.name_service = true;
  EXPECT_FALSE(make_plan(input).meets_world);
  input.group_mode = GroupMode::world;
  input.far_world = false;
  EXPECT_FALSE(make_plan(input).meets_world);
  input.far_world = true;
  input.members = 1;
  EXPECT_FALSE(make_plan(input).meets_world);
  input.members = 2;
  input.pmi.get_without_fence = input.async_modex = true;
  EXPECT_FALSE(make_plan(input).meets_world);
}

TEST(StartupPlan, makes_peers_at_once_below_the_cutoff_or_where_a_transport_needs_it) {
  for (const Case& c : all_cases()) {
    const StartupPlan plan = make_plan(input_of(c));
    ASSERT_EQ(plan.peers_now, !c.lazy || c.members < c.cutoff) << plan.peers_reason;
  }
}

TEST(StartupPlan, says_whether_a_late_member_keeps_the_others) {
  for (const Case& c : all_cases()) {
    const StartupPlan plan = make_plan(input_of(c));
    ASSERT_EQ(plan.waits_for_all, c.members > 1);
    ASSERT_EQ(plan.lines()[1].substr(0, 27),
              c.members > 1 ? "waits for all members: yes " : "waits for all members: no (");
  }
}

TEST(StartupPlan, gives_a_reason_for_every_decision) {
  Case c{btl::AddressSource::published, true, true, true, true, false, true, 64, 0, BarrierChoice::automatic,
         BarrierChoice::never};
  const StartupPlan plan = make_plan(input_of(c));
  EXPECT_EQ(plan.lines().size(), 5u);
  EXPECT_NE(plan.exchange_reason.find("async_modex=1 has no effect"), std::string::npos);
  EXPECT_NE(plan.init_barrier_reason.find("asked for by probe"), std::string::npos);
  EXPECT_NE(plan.finalize_barrier_reason.find("finalize_barrier=never; asked for by probe"),
            std::string::npos);
}

}  // namespace
}  // namespace starling::mpi

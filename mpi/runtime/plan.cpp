// SPDX-License-Identifier: BSD-3-Clause
// The startup plan. Every decision carries its reason: a barrier that nobody can explain is never removed.
// Layer: mpi.

#include "mpi/runtime/plan.hpp"

namespace starling::mpi {
namespace {

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

template <class Test>
std::vector<std::string> names_where(const PlanInput& input, Test test) {
  std::vector<std::string> names;
  for (const auto& transport : input.transports) {
    if (test(transport.needs)) names.push_back(transport.name);
  }
  return names;
}

std::string way_of_roots(const PlanInput& input) {
  const auto discovery = bootstrap::choose_discovery(input.group_mode, input.pmi, input.everybody);
  if (!discovery) return "not at all: " + discovery.error().text();
  switch (discovery->discovery) {
    case bootstrap::Discovery::direct: return "by one get each: " + discovery->reason;
    case bootstrap::Discovery::native: return "with a fence of the roots: " + discovery->reason;
    case bootstrap::Discovery::lookup: return "by published names: " + discovery->reason;
    case bootstrap::Discovery::world: return "with a fence of the world: " + discovery->reason;
  }
  return {};
}

void plan_exchange(const PlanInput& input, StartupPlan& plan) {
  const auto published =
      names_where(input, [](const btl::Needs& n) { return n.address == btl::AddressSource::published; });
  if (published.empty()) {
    plan.exchange_reason = "no active transport publishes addresses: " +
                           join(names_where(input, [](const btl::Needs&) { return true; }));
  } else if (input.members == 1) {
    plan.exchange_reason = "the group has one member";
  } else if (input.pmi.get_without_fence && input.async_modex) {
    plan.exchange = StartupPlan::Exchange::direct;
    plan.exchange_reason =
        "async_modex=1 and the process manager answers before a fence (" + input.pmi.server + ")";
  } else {
    plan.exchange = input.roots_tree ? StartupPlan::Exchange::tree : StartupPlan::Exchange::fence;
    plan.exchange_reason = "addresses are published by " + join(published);
    if (input.roots_tree) plan.exchange_reason += "; roots find their parents " + way_of_roots(input);
    if (input.async_modex) {
      plan.exchange_reason +=
          "; async_modex=1 has no effect: " + input.pmi.server + " shows values only after a fence";
    }
  }
}

/// Decides alike for every group of more than one process, so that all processes enter the fence or none.
void plan_world_fence(const PlanInput& input, StartupPlan& plan) {
  const bool one_by_one = input.pmi.get_without_fence && input.async_modex;
  plan.meets_world = input.far_world && input.members > 1 && !one_by_one &&
                     bootstrap::groups_need_world(input.group_mode, input.pmi, input.roots_tree);
}

struct Barrier {
  bool runs;
  std::string reason;
};

Barrier plan_barrier(BarrierChoice choice, const char* parameter, const std::vector<std::string>& askers,
                     const PlanInput& input) {
  const std::uint32_t members = input.members;
  // Who insists means MPI_Init and MPI_Finalize, not every communicator.
  if (choice == BarrierChoice::always && (input.everybody || askers.empty())) {
    return {members > 1 && input.everybody, std::string(parameter) + "=always"};
  }
  if (choice == BarrierChoice::never) {
    return {false,
            std::string(parameter) + "=never" + (askers.empty() ? "" : "; asked for by " + join(askers))};
  }
  if (askers.empty()) return {false, "no active transport asks for it"};
  if (members == 1) return {false, "the group has one member"};
  return {true, "asked for by " + join(askers)};
}

}  // namespace

StartupPlan make_plan(const PlanInput& input) {
  StartupPlan plan;
  plan_exchange(input, plan);
  plan_world_fence(input, plan);

  plan.waits_for_all = input.members > 1;
  plan.waits_reason = plan.waits_for_all ? "they agree on a context id, so the latest member keeps the others"
                                         : "the group has one member";

  // A published address says that its owner is ready; a computed one can be used before the owner exists.
  const auto needs_ready = [](const btl::Needs& n) {
    return n.barrier_before_first_message ||
           (!n.accepts_before_ready && n.address != btl::AddressSource::published);
  };
  const Barrier first =
      plan_barrier(input.init_barrier, "init_barrier", names_where(input, needs_ready), input);
  plan.init_barrier = first.runs;
  plan.init_barrier_reason = first.reason;

  auto last_askers = names_where(input, [](const btl::Needs& n) { return n.barrier_after_last_message; });
  // One path may close while another still carries what was sent before.
  if (input.networks > 1) last_askers.push_back("several networks");
  const Barrier last = plan_barrier(input.finalize_barrier, "finalize_barrier", last_askers, input);
  plan.finalize_barrier = last.runs;
  plan.finalize_barrier_reason = last.reason;

  const auto eager_peers = names_where(input, [](const btl::Needs& n) { return !n.lazy_peers; });
  if (!eager_peers.empty()) {
    plan.peers_now = true;
    plan.peers_reason = join(eager_peers) + " cannot add peers one by one";
  } else {
    plan.peers_now = input.members < input.add_procs_cutoff;
    plan.peers_reason = std::to_string(input.members) +
                        " processes, mpi_add_procs_cutoff=" + std::to_string(input.add_procs_cutoff);
  }
  return plan;
}

std::vector<std::string> StartupPlan::lines() const {
  const auto exchange_text = [&] {
    switch (exchange) {
      case Exchange::none: return "none";
      case Exchange::fence: return "one fence";
      case Exchange::tree: return "over the tree of node roots";
      case Exchange::direct: return "at first contact";
    }
    return "?";
  };
  const auto yes_no = [](bool runs) { return runs ? std::string("yes") : std::string("no"); };
  std::vector<std::string> all = {
      std::string("address exchange: ") + exchange_text() + " (" + exchange_reason + ")",
      "waits for all members: " + yes_no(waits_for_all) + " (" + waits_reason + ")",
      "barrier before the first message: " + yes_no(init_barrier) + " (" + init_barrier_reason + ")",
      "barrier after the last message: " + yes_no(finalize_barrier) + " (" + finalize_barrier_reason + ")",
      std::string("peers: ") + (peers_now ? "made at once" : "made on first message") + " (" + peers_reason +
          ")",
  };
  if (meets_world) all.emplace_back("fence of all processes of the job: at the first communicator of each");
  return all;
}

}  // namespace starling::mpi

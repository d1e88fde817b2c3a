// SPDX-License-Identifier: BSD-3-Clause
// What has to be done before processes can be met, and meeting them. What is hard: each decision must be the
// same on all members. Layer: mpi. docs/design/startup.md

#include "mpi/runtime/builder.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include "core/worlds.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "params/excerpt.hpp"

namespace starling::mpi {

Result<void> Builder::open(ControlChannel& control_channel, Polling& polling) {
  store_.emplace(place_.segment_pointer());
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  settings_ = bootstrap::Settings::of(environment_.params,
                                      "Starling " STARLING_VERSION ", built with " STARLING_COMPILER,
                                      "rank " + std::to_string(place_.self().rank) + " of " + host);
  // Members whom only a network reaches meet as if each had a node of its own: their addresses go around.
  if (!transports_.near_reaches_node())
    lone_nodes_.emplace(NodeMap(std::vector<NodeMap::Block>{{0, place_.world_size(), 1}}));
  const NodeMap* const nodes = lone_nodes_ ? &*lone_nodes_ : &place_.nodes();
  auto made = environment_.plugins.create_first<bootstrap::Framework>(
      {environment_.params, pmi_, control_channel, place_.self(), place_.world_size(),
       place_.world_size() == 1 ? nullptr : nodes, lone_nodes_ ? nullptr : &*store_, &settings_,
       &place_.worlds()});
  if (!made) return fail(std::move(made).error());
  bootstrap_ = std::move(*made);
  control_channel.serve(*bootstrap_);
  polling.peers().set_address_book(bootstrap_.get());
  return {};
}

Result<void> Builder::reach(const ProcList& members) {
  if (!seating_.known() && (members.size() > 1 || transports_.needs_network(members))) {
    if (auto known = seating_.know(); !known) return known;
  }
  if (transports_.network_made() || !transports_.needs_network(members)) return {};
  return transports_.has_networks() ? make_network() : transports_.all_reachable(members);
}

/// Once.
Result<void> Builder::make_network() {
  if (transports_.network_made()) return {};
  return phases_.time("network transports", [this]() -> Result<void> {
    auto addresses = transports_.make_network();
    if (!addresses) return fail(std::move(addresses).error());
    return *addresses ? bootstrap_->publish(**addresses) : Result<void>{};
  });
}

StartupPlan Builder::plan_for(const ProcList& members) const {
  return plan_under(pmi_.capabilities(),
                    {members.size(), is_whole_world(members, place_.self().world, place_.world_size()),
                     transports_.has_networks() && transports_.needs_network(members)});
}

Result<StartupPlan> Builder::plan_for_job(JobShape job, const pmi::Capabilities& pmi) {
  const bool over_network = job.nodes > 1 || (job.per_node > 1 && !transports_.near_reaches_node());
  const params::Value* const btl = environment_.params.find("btl");
  const std::string said =
      btl == nullptr || btl->written.empty()
          ? std::string()
          : "btl = '" + params::excerpt(btl->written) + "' (" + btl->origin.text("btl") + "): ";
  const std::string whom = job.nodes > 1 ? "a process of another node" : "another process of the own node";
  if (over_network && !transports_.has_networks())
    return fail(Errc::not_found, "btl", said + "none of its transports reaches " + whom);
  if (over_network) {
    if (auto made = make_network(); !made) return fail(std::move(made).error());
  }
  if (over_network && transports_.all().size() == transports_.near()) {
    std::string reasons;
    for (const std::string& reason : transports_.refused()) reasons += "\n  " + reason;
    return fail(Errc::not_found, "btl", said + "no transport can be used that reaches " + whom + reasons);
  }
  return plan_under(pmi, {job.size(), true, over_network});
}

StartupPlan Builder::plan_under(const pmi::Capabilities& pmi, const Members& members) const {
  PlanInput input;
  const std::vector<btl::Component*>& all = transports_.all();
  const std::size_t near = transports_.near();
  const std::size_t count = members.over_network ? all.size() : near;
  for (std::size_t i = 0; i < count; ++i) {
    input.transports.push_back({std::string(all[i]->name()), all[i]->needs()});
  }
  input.networks = static_cast<std::uint32_t>(count - near);
  // Others may have a network where this process failed to make one: it takes part, so that they do not wait.
  if (members.over_network && transports_.network_made() && count == near) {
    input.transports.push_back(
        {"a network that this process does not have", {.address = btl::AddressSource::published}});
  }
  input.pmi = pmi;
  input.members = members.count;
  input.everybody = members.everybody;
  input.far_world = !transports_.world_is_near() && transports_.has_networks();
  input.roots_tree = bootstrap_->exchanges_over_roots();
  input.group_mode = environment_.params.choice<bootstrap::GroupMode>(bootstrap::kGroupMode);
  input.add_procs_cutoff = environment_.params.integer(kAddProcsCutoff);
  input.async_modex = environment_.params.boolean(kAsyncModex);
  input.init_barrier = environment_.params.choice<BarrierChoice>(kInitBarrier);
  input.finalize_barrier = environment_.params.choice<BarrierChoice>(kFinalizeBarrier);
  return make_plan(input);
}

Result<ContextId> Builder::agree(const ProcListPtr& members, const std::string& tag) {
  if (!is_within_world(*members, place_.self().world)) {
    return fail(Errc::unsupported, "a communicator from a group",
                "its members belong to several worlds, and a process manager brings together those of one; "
                "expected a group of one world, or a communicator made from one that holds them all");
  }
  if (auto reached = reach(*members); !reached) return fail(std::move(reached).error());
  const StartupPlan plan = plan_for(*members);
  if (plan.meets_world) {  // with the addresses that others will look for
    if (auto made = make_network(); !made) return fail(std::move(made).error());
  }
  bootstrap::Creation creation{members, tag};
  creation.exchange =
      plan.exchange == StartupPlan::Exchange::fence || plan.exchange == StartupPlan::Exchange::tree;
  creation.lookup = plan.exchange == StartupPlan::Exchange::direct;
  creation.ready = plan.init_barrier;
  creation.world = plan.meets_world;
  const auto seconds = static_cast<std::uint64_t>(environment_.params.integer(bootstrap::kTimeout));
  const std::uint64_t begin = now_ns();
  auto id = bootstrap_->create(creation, Deadline::after_seconds(seconds));
  phases_.add("communicators from groups", now_ns() - begin);
  // After one fence each address is still read at its first use; a tree has brought all.
  const bool brought =
      plan.exchange == StartupPlan::Exchange::none || plan.exchange == StartupPlan::Exchange::tree;
  if (id && brought && is_whole_world(*members, place_.self().world, place_.world_size()))
    world_is_known_ = true;
  return id;
}

}  // namespace starling::mpi

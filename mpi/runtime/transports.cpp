// SPDX-License-Identifier: BSD-3-Clause
// Which transports run. What is hard: libraries for networks take up to 0.3 s and much memory, so they are
// loaded only by jobs that need them, and then by all processes at the same point. Layer: mpi. See
// docs/design/startup.md.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "core/worlds.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "mpi/runtime/runtime.hpp"
#include "params/excerpt.hpp"

namespace starling::mpi {
namespace {

/// The user wrote `btl=a,b`: each of these must work. `^a` and the default only say what may be used.
bool named_by_user(const params::Registry& params, std::string_view framework) {
  const params::Value* const value = params.find(framework);
  return value != nullptr && !value->written.empty() && value->written.front() != '^';
}

std::int64_t local_rank_of(const void* context, std::uint32_t rank) noexcept {
  const auto& ranks = *static_cast<const std::vector<std::uint32_t>*>(context);
  // Mostly they follow one another: a thousand processes that ask for a thousand each notice the search.
  if (ranks.back() - ranks.front() + 1 == ranks.size())
    return rank < ranks.front() || rank > ranks.back() ? -1 : std::int64_t{rank} - ranks.front();
  const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() || *found != rank ? -1 : found - ranks.begin();
}

btl::Place::Seat seat_of(const void* map, std::uint32_t rank) noexcept {
  const auto& nodes = *static_cast<const NodeMap*>(map);
  if (nodes.unknown()) return {};  // a world of one
  return {to_int(nodes.node_of(rank)), nodes.local_rank(rank)};
}

bool for_other_nodes(const plugin::Candidate& candidate) {
  return candidate.descriptor.scope == plugin::Scope::other_nodes;
}

}  // namespace

Result<void> Runtime::create_transport(const plugin::Candidate& candidate) {
  const btl::Place place{self(),
                         place_.world_size(),
                         place_.local_rank(),
                         static_cast<std::uint32_t>(place_.node_ranks().size()),
                         &local_rank_of,
                         &place_.node_ranks(),
                         &seat_of,
                         &place_.nodes(),
                         std::hash<std::string>{}(pmi_->identity().job)};
  auto transport = environment_.plugins.create<btl::Framework>(
      candidate, {environment_.params, peers().sink(), place, &place_.segment()});
  if (transport) {
    transports_.push_back(std::move(*transport));
    return {};
  }
  if (named_by_user(environment_.params, "btl")) return fail(std::move(transport).error());
  transports_refused_.push_back(transport.error().text());
  const Errc code = transport.error().code;
  // Others of this node may have got the room that this one lacks: they would send what nobody receives.
  if (code == Errc::no_space && !for_other_nodes(candidate) && place_.node_ranks().size() > 1)
    return fail(std::move(transport).error());
  // Without memory or permission the job goes on more slowly or not at all: the user wants to know why.
  if (code != Errc::unsupported && code != Errc::not_found) log::warning(transport.error().text());
  return {};
}

/// Hands those from `first` on to the peers, best first.
void Runtime::use_transports(std::size_t first) {
  for (std::size_t i = first; i < transports_.size(); ++i) transport_list_.push_back(transports_[i].get());
  const auto added = transport_list_.begin() + static_cast<std::ptrdiff_t>(first);
  std::stable_sort(added, transport_list_.end(), [](btl::Component* a, btl::Component* b) {
    return a->limits().rank_of_preference < b->limits().rank_of_preference;
  });
  for (auto at = added; at != transport_list_.end(); ++at) {
    peers().add_transport(**at);
    if ((*at)->wait_fd() >= 0) polling().sleeper().listen_to(**at);
  }
  polling().sleeper().follow();
}

Result<void> Runtime::create_transports() {
  auto made = environment_.plugins.create_first<pml::Framework>(
      {environment_.params, peers(), self(), place_.world_size()});
  if (!made) return fail(std::move(made).error());
  pml_ = std::move(*made);
  waits_.hang_help().set_pml(*pml_);
  constexpr std::array kKinds{peer::KindFacts{static_cast<std::uint8_t>(peer::wire::Kind::creation)}};
  if (auto added = peers().add(*this, kKinds); !added) return added;

  auto admitted = environment_.plugins.admitted(btl::Framework::kName.view());
  if (!admitted) return fail(std::move(admitted).error());
  for (const plugin::Candidate* candidate : *admitted) {
    near_reaches_node_ |= !for_other_nodes(*candidate) && candidate->name != "self";
    if (for_other_nodes(*candidate)) {
      network_candidates_.push_back(candidate);
    } else if (!knows_place() && candidate->name != "self") {
      node_candidates_.push_back(candidate);
    } else if (auto done = create_transport(*candidate); !done) {
      return done;
    }
  }
  use_transports(0);
  note_near_transports();
  if (transport_list_.empty() && node_candidates_.empty() && network_candidates_.empty()) {
    return fail(Errc::not_found, "btl", "no transport can be used; see starling-info for the reasons");
  }
  return {};
}

/// Those that had to wait until the node was known. No network is there yet: nobody was reached.
Result<void> Runtime::create_node_transports() {
  const std::size_t first = transports_.size();
  for (const plugin::Candidate* const candidate : node_candidates_) {
    if (auto done = create_transport(*candidate); !done) return done;
  }
  node_candidates_.clear();
  use_transports(first);
  note_near_transports();
  return {};
}

void Runtime::note_near_transports() {
  near_count_ = transport_list_.size();
  world_is_near_ = place_.node_ranks().size() == place_.world_size();
  for (std::uint32_t rank = 0; rank < place_.world_size() && world_is_near_; ++rank)
    world_is_near_ = is_near({self().world, rank});
}

/// Reached by a near transport; if by none, it is on another node, as a rule.
bool Runtime::is_near(ProcId proc) const {
  // The last one is the most general, so the first answer is mostly yes.
  for (std::size_t at = near_count_; at-- > 0;) {
    if (transport_list_[at]->reaches(proc)) return true;
  }
  return false;
}

bool Runtime::needs_network(const ProcList& members) const {
  const std::uint32_t size = members.size();
  if (world_is_near_ && size != 0 && members.consecutive() && members.at(0).world == self().world)
    return false;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (!is_near(members.at(i))) return true;
  }
  return false;
}

/// Without any network to try, who is not near will never be reached: nobody has to wait to know that.
Result<void> Runtime::all_reachable(const ProcList& members) const {
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    const ProcId member = members.at(i);
    if (is_near(member)) continue;
    std::string text = "no transport reaches rank " + std::to_string(member.rank) + " of world " +
                       std::to_string(member.world) + "; tried";
    for (const btl::Component* const transport : transport_list_) {
      const auto reached = transport->reaches(member);
      if (!reached) text += "\n  " + reached.error().text();
    }
    for (const std::string& refused : transports_refused_) text += "\n  " + refused;
    text += place_.on_node(member) ? "\nIt is on the node of this process" : "\nIt is on another node";
    if (const params::Value* const btl = params().find("btl"); btl != nullptr && !btl->written.empty())
      text += "; btl=" + btl->written + " (" + btl->origin.text(btl->set_as) + ")";
    text +=
        "; expected shm in it for the processes of one node, a network (starling-info lists them) for others";
    return fail(Errc::unsupported, "btl", text);
  }
  return {};
}

Result<void> Runtime::reach(const ProcList& members) {
  if (!knows_place() && (members.size() > 1 || needs_network(members))) {
    if (auto known = know_place(); !known) return known;
  }
  if (network_made_ || !needs_network(members)) return {};
  return network_candidates_.empty() ? all_reachable(members) : make_network();
}

/// Once.
Result<void> Runtime::make_network() {
  if (network_made_) return {};
  const std::uint64_t begin = now_ns();
  network_made_ = true;
  if (auto created = create_network(); !created) return created;
  phases_.add("network transports", now_ns() - begin);
  return {};
}

Result<void> Runtime::create_network() {
  const bool all = named_by_user(environment_.params, "btl");
  const std::size_t first = transports_.size();
  for (const plugin::Candidate* candidate : network_candidates_) {
    // One network is enough unless the user lists several: each library costs start-up time and memory.
    if (transports_.size() > first && !all) {
      transports_refused_.push_back("btl/" + candidate->name + ": not tried, btl/" +
                                    std::string(transports_[first]->name()) + " is used already");
    } else if (auto done = create_transport(*candidate); !done) {
      return done;
    }
  }
  use_transports(first);
  std::vector<bootstrap::LocalAddress> addresses;
  for (std::size_t i = first; i < transports_.size(); ++i) {
    if (transports_[i]->needs().address != btl::AddressSource::published) continue;
    addresses.push_back({std::string(transports_[i]->name()), transports_[i]->address()});
  }
  // Without a network there is an empty card too, so that others learn that instead of waiting for it.
  if (addresses.empty() && transports_.size() > first) return {};
  return bootstrap_->publish(addresses);
}

/// The longest message of a creation to another node that every network takes.
std::size_t Runtime::remote_message_bytes() const {
  constexpr std::size_t kHeadBytes = 64;  // of a control message, amply
  std::size_t least = bootstrap::kRemoteMessageBytes;
  for (std::size_t i = near_count_; i < transport_list_.size(); ++i) {
    least = std::min(least, transport_list_[i]->limits().message_max_bytes - kHeadBytes);
  }
  return std::max(least, bootstrap::kNodeMessageBytes);
}

std::uint64_t Runtime::network_endpoints() const {
  std::uint64_t endpoints = 0;
  for (std::size_t i = near_count_; i < transport_list_.size(); ++i) {
    endpoints += transport_list_[i]->counters().endpoints;
  }
  return endpoints;
}

StartupPlan Runtime::plan_for(const ProcList& members) const {
  return plan_under(pmi_->capabilities(),
                    {members.size(), is_whole_world(members, self().world, place_.world_size()),
                     !network_candidates_.empty() && needs_network(members)});
}

StartupPlan Runtime::plan_for(std::uint32_t members, bool over_network) const {
  return plan_under(pmi_->capabilities(), {members, members >= place_.world_size(), over_network});
}

Result<StartupPlan> Runtime::plan_for_job(JobShape job, const pmi::Capabilities& pmi) {
  const bool over_network = job.nodes > 1 || (job.per_node > 1 && !near_reaches_node_);
  const params::Value* const btl = params().find("btl");
  const std::string said =
      btl == nullptr || btl->written.empty()
          ? std::string()
          : "btl = '" + params::excerpt(btl->written) + "' (" + btl->origin.text("btl") + "): ";
  const std::string whom = job.nodes > 1 ? "a process of another node" : "another process of the own node";
  if (over_network && network_candidates_.empty())
    return fail(Errc::not_found, "btl", said + "none of its transports reaches " + whom);
  if (over_network && !network_made_) {
    network_made_ = true;
    if (auto created = create_network(); !created) return fail(std::move(created).error());
  }
  if (over_network && transport_list_.size() == near_count_) {
    std::string reasons;
    for (const std::string& reason : transports_refused_) reasons += "\n  " + reason;
    return fail(Errc::not_found, "btl", said + "no transport can be used that reaches " + whom + reasons);
  }
  return plan_under(pmi, {job.size(), job.size() >= place_.world_size(), over_network});
}

StartupPlan Runtime::plan_under(const pmi::Capabilities& pmi, const Members& members) const {
  PlanInput input;
  const std::size_t count = members.over_network ? transport_list_.size() : near_count_;
  for (std::size_t i = 0; i < count; ++i) {
    input.transports.push_back({std::string(transport_list_[i]->name()), transport_list_[i]->needs()});
  }
  input.networks = static_cast<std::uint32_t>(count - near_count_);
  // Others may have a network where this process failed to make one: it takes part, so that they do not wait.
  if (members.over_network && network_made_ && count == near_count_) {
    input.transports.push_back(
        {"a network that this process does not have", {.address = btl::AddressSource::published}});
  }
  input.pmi = pmi;
  input.members = members.count;
  input.everybody = members.everybody;
  input.far_world = !world_is_near_ && !network_candidates_.empty();
  input.roots_tree = bootstrap_name_ == "hierarchical";
  input.group_mode = params().choice<bootstrap::GroupMode>(bootstrap::kGroupMode);
  input.add_procs_cutoff = params().integer(kAddProcsCutoff);
  input.async_modex = params().boolean(kAsyncModex);
  input.init_barrier = params().choice<BarrierChoice>(kInitBarrier);
  input.finalize_barrier = params().choice<BarrierChoice>(kFinalizeBarrier);
  return make_plan(input);
}

Result<ContextId> Runtime::agree(const ProcListPtr& members, const std::string& tag) {
  if (!is_within_world(*members, self().world)) {
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
  const auto seconds = static_cast<std::uint64_t>(params().integer(bootstrap::kTimeout));
  const std::uint64_t begin = now_ns();
  auto id = bootstrap_->create(creation, Deadline::after_seconds(seconds));
  phases_.add("communicators from groups", now_ns() - begin);
  // After one fence each address is still read at its first use; a tree has brought all.
  const bool brought =
      plan.exchange == StartupPlan::Exchange::none || plan.exchange == StartupPlan::Exchange::tree;
  if (id && brought && is_whole_world(*members, self().world, place_.world_size())) world_is_known_ = true;
  return id;
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Which transports run. What is hard: libraries for networks take up to 0.3 s and much memory, so they are
// loaded only by jobs that need them, and then by all processes at the same point. Layer: mpi. See
// docs/design/startup.md.

#include "mpi/runtime/transports.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include "core/log.hpp"
#include "frameworks/bootstrap/pieces.hpp"
#include "mpi/hardware/hardware.hpp"
#include "mpi/runtime/cores.hpp"

namespace starling::mpi {
namespace {

/// The user wrote `btl=a,b`: each of these must work. `^a` and the default only say what may be used.
bool named_by_user(const params::Registry& params, std::string_view framework) {
  const params::Value* const value = params.find(framework);
  return value != nullptr && !value->written.empty() && value->written.front() != '^';
}

/// The node's memory has seats for processes of the own world.
std::int64_t local_rank_of(const void* context, ProcId proc) noexcept {
  const auto& ranks = *static_cast<const std::vector<std::uint32_t>*>(context);
  const std::uint32_t rank = proc.rank;
  if (proc.world != Worlds::kOwn) return -1;
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

std::array<std::int32_t, 2> domains() noexcept {
  // Without memory, or hwloc, nobody knows.
  try {
    std::array<std::int32_t, 2> found{-1, -1};
    for (const hardware::Place& place : hardware::places()) {
      if (place.type == "hwloc://L3Cache") found[0] = place.index.value_or(-1);
      if (place.type == "hwloc://NUMANode") found[1] = place.index.value_or(-1);
    }
    return found;
  } catch (const std::exception&) {
    return {-1, -1};
  }
}

bool for_other_nodes(const plugin::Candidate& candidate) {
  return candidate.descriptor.scope == plugin::Scope::other_nodes;
}

bool for_own_process(const plugin::Candidate& candidate) {
  return candidate.descriptor.scope == plugin::Scope::own_process;
}

}  // namespace

Result<void> Transports::create_transport(const plugin::Candidate& candidate) {
  const btl::Place place{place_.self(),
                         place_.world_size(),
                         place_.local_rank(),
                         static_cast<std::uint32_t>(place_.node_ranks().size()),
                         &local_rank_of,
                         &place_.node_ranks(),
                         &seat_of,
                         &place_.nodes(),
                         job_,
                         static_cast<std::uint32_t>(cores_of_job()),
                         &domains};
  auto transport = environment_.plugins.create<btl::Framework>(
      candidate,
      {environment_.params, polling_.peers().sink(), place, &place_.segment(), place_.launchers_segment()});
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

/// Hands those from `first` on to the peers: the nearest first, and of those that reach as far in the order
/// in which they were admitted: the user's list, or their priorities.
void Transports::use_transports(std::size_t first) {
  for (std::size_t i = first; i < transports_.size(); ++i) transport_list_.push_back(transports_[i].get());
  const auto added = transport_list_.begin() + static_cast<std::ptrdiff_t>(first);
  std::stable_sort(added, transport_list_.end(), [](btl::Component* a, btl::Component* b) {
    return a->limits().reach < b->limits().reach;
  });
  for (auto at = added; at != transport_list_.end(); ++at) {
    polling_.peers().add_transport(**at);
    if ((*at)->wait_fd() >= 0) polling_.sleeper().listen_to(**at);
  }
  polling_.sleeper().follow();
}

Result<void> Transports::create(bool node_is_known) {
  auto admitted = environment_.plugins.admitted(btl::Framework::kName.view());
  if (!admitted) return fail(std::move(admitted).error());
  for (const plugin::Candidate* candidate : *admitted) {
    near_reaches_node_ |= !for_other_nodes(*candidate) && !for_own_process(*candidate);
    if (for_other_nodes(*candidate)) {
      network_candidates_.push_back(candidate);
    } else if (!node_is_known && !for_own_process(*candidate)) {
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

Result<void> Transports::create_for_node() {
  const std::size_t first = transports_.size();
  for (const plugin::Candidate* const candidate : node_candidates_) {
    if (auto done = create_transport(*candidate); !done) return done;
  }
  node_candidates_.clear();
  use_transports(first);
  note_near_transports();
  return {};
}

void Transports::note_near_transports() {
  near_count_ = transport_list_.size();
  world_is_near_ = place_.node_ranks().size() == place_.world_size();
  for (std::uint32_t rank = 0; rank < place_.world_size() && world_is_near_; ++rank)
    world_is_near_ = is_near({place_.self().world, rank});
}

bool Transports::is_near(ProcId proc) const {
  // The last one is the most general, so the first answer is mostly yes.
  for (std::size_t at = near_count_; at-- > 0;) {
    if (transport_list_[at]->reaches(proc)) return true;
  }
  return false;
}

bool Transports::needs_network(const ProcList& members) const {
  const std::uint32_t size = members.size();
  if (world_is_near_ && size != 0 && members.consecutive() && members.at(0).world == place_.self().world)
    return false;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (!is_near(members.at(i))) return true;
  }
  return false;
}

Result<void> Transports::all_reachable(const ProcList& members) const {
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    const ProcId member = members.at(i);
    if (is_near(member)) continue;
    std::string text = "no transport reaches " + place_.worlds().text(member) + "; tried";
    for (const btl::Component* const transport : transport_list_) {
      const auto reached = transport->reaches(member);
      if (!reached) text += "\n  " + reached.error().text();
    }
    for (const std::string& refused : transports_refused_) text += "\n  " + refused;
    text += place_.on_node(member) ? "\nIt is on the node of this process" : "\nIt is on another node";
    if (const params::Value* const btl = environment_.params.find("btl");
        btl != nullptr && !btl->written.empty())
      text += "; btl=" + btl->written + " (" + btl->origin.text(btl->set_as) + ")";
    text +=
        "; expected shm in it for the processes of one node, a network (starling-info lists them) for others";
    return fail(Errc::unsupported, "btl", text);
  }
  return {};
}

Result<std::optional<Transports::Addresses>> Transports::make_network() {
  network_made_ = true;
  const bool all = named_by_user(environment_.params, "btl");
  const std::size_t first = transports_.size();
  for (const plugin::Candidate* candidate : network_candidates_) {
    // One network is enough unless the user lists several: each library costs start-up time and memory.
    if (transports_.size() > first && !all) {
      transports_refused_.push_back("btl/" + candidate->name + ": not tried, btl/" +
                                    std::string(transports_[first]->name()) + " is used already");
    } else if (auto done = create_transport(*candidate); !done) {
      return fail(std::move(done).error());
    }
  }
  use_transports(first);
  Addresses addresses;
  for (std::size_t i = first; i < transports_.size(); ++i) {
    if (transports_[i]->needs().address != btl::AddressSource::published) continue;
    addresses.push_back({std::string(transports_[i]->name()), transports_[i]->address()});
  }
  // Without a network there is an empty card too, so that others learn that instead of waiting for it.
  if (addresses.empty() && transports_.size() > first) return std::optional<Addresses>();
  return std::optional(std::move(addresses));
}

std::size_t Transports::network_message_bytes() const {
  constexpr std::size_t kHeadBytes = 64;  // of a control message, amply
  std::size_t least = bootstrap::kRemoteMessageBytes;
  for (std::size_t i = near_count_; i < transport_list_.size(); ++i) {
    least = std::min(least, transport_list_[i]->limits().message_max_bytes - kHeadBytes);
  }
  return std::max(least, bootstrap::kNodeMessageBytes);
}

std::uint64_t Transports::network_endpoints() const {
  std::uint64_t endpoints = 0;
  for (std::size_t i = near_count_; i < transport_list_.size(); ++i) {
    endpoints += transport_list_[i]->counters().endpoints;
  }
  return endpoints;
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Ranks over hosts. Layer: tools.

#include "tools/mpiexec/handover/spread.hpp"

#include <algorithm>
#include <string>

namespace starling::mpiexec {
namespace {

/// How many ranks each host takes at most; their sum is at least `ranks`.
std::vector<std::uint64_t> room_on_hosts(const Options& options, const std::vector<Host>& hosts,
                                         std::uint32_t ranks) {
  const auto named = [](const Host& host) { return host.slots > 0; };
  std::vector<std::uint64_t> room;
  if (options.place.per_node > 0) {
    room.assign(hosts.size(), options.place.per_node);
  } else if (std::none_of(hosts.begin(), hosts.end(), named)) {
    const std::size_t few = ranks / hosts.size();
    const std::size_t with_one_more = ranks % hosts.size();
    for (std::size_t i = 0; i < hosts.size(); ++i) room.push_back(few + (i < with_one_more ? 1 : 0));
  } else {
    std::uint64_t all = 0;
    for (const Host& host : hosts) all += room.emplace_back(std::max(host.slots, 1u));
    const std::uint64_t times = (ranks + all - 1) / all;
    for (std::uint64_t& slots : room) slots *= std::max<std::uint64_t>(times, 1);
  }
  return room;
}

}  // namespace

std::vector<std::uint32_t> ranks_of_programs(const Options& options, std::uint32_t slots) {
  const std::uint32_t fallback = slots > 0 && options.programs.size() == 1 ? slots : 1;
  std::vector<std::uint32_t> ranks;
  for (const Program& program : options.programs) ranks.push_back(program.ranks.value_or(fallback));
  return ranks;
}

Result<std::vector<std::uint32_t>> spread(const Options& options, const std::vector<Host>& hosts,
                                          std::uint32_t ranks) {
  std::vector<std::uint64_t> room = room_on_hosts(options, hosts, ranks);
  if (options.place.per_node > 0 && std::uint64_t{options.place.per_node} * hosts.size() < ranks) {
    return fail(Errc::bad_parameter, kWhere,
                std::to_string(ranks) + " ranks do not fit: " + std::to_string(hosts.size()) +
                    " hosts with " + std::to_string(options.place.per_node) + " ranks on each (-ppn)");
  }
  std::vector<std::uint32_t> host_of;
  host_of.reserve(ranks);
  if (!options.place.nodes_in_turn) {
    for (std::uint32_t host = 0; host_of.size() < ranks; ++host)
      host_of.insert(host_of.end(), std::min<std::uint64_t>(room[host], ranks - host_of.size()), host);
    return host_of;
  }
  for (std::uint32_t host = 0; host_of.size() < ranks; host = host + 1 == hosts.size() ? 0 : host + 1) {
    if (room[host] == 0) continue;
    --room[host];
    host_of.push_back(host);
  }
  return host_of;
}

}  // namespace starling::mpiexec

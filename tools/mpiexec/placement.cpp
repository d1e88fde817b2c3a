// SPDX-License-Identifier: BSD-3-Clause
// Ranks over programs and nodes. Layer: tools.

#include "tools/mpiexec/placement.hpp"

#include <algorithm>

#include "tools/mpiexec/hosts.hpp"

namespace starling::mpiexec {
namespace {

/// "0-3,8"
std::string numbers_in(const cpu_set_t& set) {
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &set)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

}  // namespace

Result<Offer> check_hosts(const std::vector<std::string>& written) {
  auto hosts = read_hosts(written);
  if (!hosts) return fail(std::move(hosts).error());
  Offer offer{0, std::max(static_cast<std::uint32_t>(hosts->size()), 1u)};
  for (const Host& host : *hosts) {
    if (!is_this_machine(host.name)) {
      return fail(Errc::bad_parameter, kWhere,
                  "host \"" + host.name + "\" is not this machine (" + host_name() +
                      "), and -launcher local starts ranks nowhere else");
    }
    offer.slots += std::max(host.slots, 1u);
  }
  return offer;
}

std::uint64_t ranks_if_unsaid(const Options& options, std::uint32_t slots, std::uint64_t nodes) {
  return options.place.per_node > 0 ? options.place.per_node * nodes : slots;
}

Result<JobLayout> lay_out(const Options& options, const Offer& offer) {
  JobLayout layout;
  const bool alone = options.programs.size() == 1;
  const std::uint64_t unsaid =
      ranks_if_unsaid(options, offer.slots, options.virtual_nodes > 1 ? options.virtual_nodes : offer.hosts);
  for (std::uint32_t index = 0; index < options.programs.size(); ++index) {
    const std::uint64_t ranks = options.programs[index].ranks.value_or(alone && unsaid > 0 ? unsaid : 1);
    if (layout.program.size() + ranks > kMaxRanks)
      return fail(Errc::bad_parameter, kWhere,
                  "at most " + std::to_string(kMaxRanks) + " ranks are possible");
    layout.program.resize(layout.program.size() + ranks, index);
  }
  layout.size = static_cast<std::uint32_t>(layout.program.size());
  const std::uint32_t nodes = std::min(options.virtual_nodes, layout.size);
  if (nodes > 1 && options.place.per_node > 0 &&
      std::uint64_t{options.place.per_node} * nodes < layout.size) {
    return fail(Errc::bad_parameter, kWhere,
                std::to_string(layout.size) + " ranks do not fit: " + std::to_string(nodes) +
                    " virtual nodes with " + std::to_string(options.place.per_node) + " ranks on each");
  }
  const std::uint32_t few = layout.size / nodes;
  const std::uint32_t with_one_more = layout.size % nodes;
  if (nodes == 1) {
    layout.nodes = NodeMap::one_node(layout.size);
  } else if (options.place.per_node > 0) {
    layout.nodes = NodeMap({{0, nodes, options.place.per_node}});
  } else if (options.place.nodes_in_turn) {
    layout.nodes = NodeMap({{0, nodes, 1}});
  } else {
    layout.nodes = NodeMap({{0, with_one_more, few + 1}, {with_one_more, nodes - with_one_more, few}});
  }
  for (std::uint32_t rank = 0; rank < layout.size; ++rank) {
    const std::uint32_t node = to_int(layout.nodes.node_of(rank));
    if (node >= layout.local_size.size()) layout.local_size.resize(node + 1);
    layout.node.push_back(node);
    layout.local_rank.push_back(layout.local_size[node]++);
  }
  return layout;
}

Result<void> check_input(const InputTo& input, std::uint64_t ranks) {
  if (!input.rank || *input.rank < ranks) return {};
  return fail(
      Errc::bad_parameter, kWhere,
      "option -stdin: there is no rank " + std::to_string(*input.rank) + " among " + std::to_string(ranks));
}

std::string map_text(const JobLayout& layout, const std::vector<cpu_set_t>& bound, const std::string& host) {
  std::string text;
  for (std::uint32_t rank = 0; rank < layout.size; ++rank) {
    text += "mpiexec: rank " + std::to_string(rank) + " on " + host;
    if (layout.local_size.size() > 1) text += ", virtual node " + std::to_string(layout.node[rank]);
    text += bound.empty() ? ", not bound\n" : ", processors " + numbers_in(bound[rank]) + "\n";
  }
  return text;
}

Result<void> resolve_per_object(PlacementWords& place, const Machine& machine) {
  if (place.map.per_unit == 0) return {};
  const std::uint64_t ranks = std::uint64_t{place.map.per_unit} * objects_of(machine, place.map.unit).size();
  if (ranks == 0 || ranks > kMaxRanks) {
    return fail(Errc::bad_parameter, kWhere,
                "option -map-by ppr:" + std::to_string(place.map.per_unit) + ":" + word_for(place.map.unit) +
                    " means " + std::to_string(ranks) + " ranks here; 1 to " + std::to_string(kMaxRanks) +
                    " are possible");
  }
  place.per_node = static_cast<std::uint32_t>(ranks);
  return {};
}

}  // namespace starling::mpiexec

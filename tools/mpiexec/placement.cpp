// SPDX-License-Identifier: BSD-3-Clause
// Hosts, nodes and processors. Layer: tools.
//
// The machine is read from /sys instead of through hwloc: loading its topology takes longer than starting a
// small job.

#include "tools/mpiexec/placement.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "tools/mpiexec/hosts.hpp"

namespace starling::mpiexec {
namespace {

int read_number(const std::string& path) {
  std::ifstream file(path);
  int value = -1;
  file >> value;
  return file ? value : -1;
}

/// Which NUMA node a processor is on: the directory has a link named nodeN.
int numa_of(const std::string& cpu_directory) {
  for (int node = 0; node < 1024; ++node) {
    if (::access((cpu_directory + "/node" + std::to_string(node)).c_str(), F_OK) == 0) return node;
  }
  return 0;
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
  return options.per_node > 0 ? options.per_node * nodes : slots;
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
  if (nodes > 1 && options.per_node > 0 && std::uint64_t{options.per_node} * nodes < layout.size) {
    return fail(Errc::bad_parameter, kWhere,
                std::to_string(layout.size) + " ranks do not fit: " + std::to_string(nodes) +
                    " virtual nodes with " + std::to_string(options.per_node) + " ranks on each");
  }
  const std::uint32_t few = layout.size / nodes;
  const std::uint32_t with_one_more = layout.size % nodes;
  if (nodes == 1) {
    layout.nodes = NodeMap::one_node(layout.size);
  } else if (options.per_node > 0) {
    layout.nodes = NodeMap({{0, nodes, options.per_node}});
  } else if (options.placement == Placement::round_robin) {
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

std::vector<cpu_set_t> places(Bind bind) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (bind == Bind::none || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  std::map<std::pair<int, int>, cpu_set_t> sets;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string directory = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    const int package = std::max(read_number(directory + "/topology/physical_package_id"), 0);
    std::pair<int, int> key{package, 0};
    if (bind == Bind::hwthread) key.second = cpu;
    if (bind == Bind::core) key.second = read_number(directory + "/topology/core_id");
    if (bind == Bind::numa) key = {numa_of(directory), 0};
    if (bind == Bind::core && key.second < 0) key.second = cpu;
    const auto [at, added] = sets.try_emplace(key);
    if (added) CPU_ZERO(&at->second);
    CPU_SET(cpu, &at->second);
  }
  std::vector<cpu_set_t> result;
  for (const auto& [key, set] : sets) result.push_back(set);
  return result;
}

}  // namespace starling::mpiexec

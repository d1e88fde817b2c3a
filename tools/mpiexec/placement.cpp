// SPDX-License-Identifier: BSD-3-Clause
// Hosts, nodes and processors. Layer: tools.
//
// The machine is read from /sys instead of through hwloc: loading its topology takes longer than starting a
// small job.

#include "tools/mpiexec/placement.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

namespace starling::mpiexec {
namespace {

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

bool same_address(const sockaddr* one, const sockaddr* two) {
  if (one == nullptr || two == nullptr || one->sa_family != two->sa_family) return false;
  if (one->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(one)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(two)->sin_addr.s_addr;
  }
  if (one->sa_family == AF_INET6) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(one)->sin6_addr,
                       &reinterpret_cast<const sockaddr_in6*>(two)->sin6_addr, sizeof(in6_addr)) == 0;
  }
  return false;
}

/// Whether a name's address belongs to an interface of this machine.
bool resolves_to_us(const std::string& name) {
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, nullptr, &found) != 0) return false;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> interfaces(first, ::freeifaddrs);
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
      if (same_address(address->ai_addr, at->ifa_addr)) return true;
    }
  }
  return false;
}

bool is_this_machine(const std::string& name) {
  const std::string own = host_name();
  const std::string short_own = own.substr(0, own.find('.'));
  if (name == "localhost" || name == own || name == short_own || name == "127.0.0.1" || name == "::1")
    return true;
  return resolves_to_us(name);
}

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

Result<std::uint32_t> check_hosts(const std::vector<std::string>& hosts) {
  std::uint32_t slots = 0;
  for (const std::string& written : hosts) {
    const std::size_t colon = written.find(':');
    const bool has_slots = colon != std::string::npos && written.find(':', colon + 1) == std::string::npos;
    const std::string name = has_slots ? written.substr(0, colon) : written;
    std::uint32_t count = 1;
    if (has_slots) {
      const char* const end = written.data() + written.size();
      const auto [stop, code] = std::from_chars(written.data() + colon + 1, end, count);
      if (code != std::errc{} || stop != end || count == 0) {
        return fail(Errc::bad_parameter, kWhere,
                    "host \"" + written + "\": a number of slots was expected after ':'");
      }
    }
    if (!is_this_machine(name)) {
      return fail(Errc::bad_parameter, kWhere,
                  "host \"" + name + "\" is not this machine (" + host_name() +
                      "). This mpiexec starts processes on one machine; for several, use the launcher of the "
                      "site, the program "
                      "needs no rebuild: `srun --mpi=pmi2 -n N PROGRAM` (Slurm), `mpiexec.hydra -n N -hosts "
                      "LIST PROGRAM` "
                      "(MPICH's Hydra, over ssh), `flux run -n N PROGRAM` (Flux). docs/process-managers.md "
                      "says more");
    }
    slots += count;
  }
  return slots;
}

Result<JobLayout> lay_out(const Options& options, std::uint32_t slots) {
  JobLayout layout;
  for (std::uint32_t index = 0; index < options.programs.size(); ++index) {
    const std::uint32_t fallback = slots > 0 && options.programs.size() == 1 ? slots : 1;
    layout.program.resize(layout.program.size() + options.programs[index].ranks.value_or(fallback), index);
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
    layout.nodes = pmi::NodeMap::one_node(layout.size);
  } else if (options.per_node > 0) {
    layout.nodes = pmi::NodeMap({{0, nodes, options.per_node}});
  } else if (options.placement == Placement::round_robin) {
    layout.nodes = pmi::NodeMap({{0, nodes, 1}});
  } else {
    layout.nodes = pmi::NodeMap({{0, with_one_more, few + 1}, {with_one_more, nodes - with_one_more, few}});
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

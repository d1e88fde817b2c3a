// SPDX-License-Identifier: BSD-3-Clause
// The machine as /sys describes it. Layer: tools.
//
// It is not asked through hwloc: loading its topology takes longer than starting a small job.

#include "tools/mpiexec/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace starling::mpiexec {
namespace {

constexpr int kMaxNumaDomains = 1024;
constexpr int kMaxCaches = 8;

int read_number(const std::string& path) {
  std::ifstream file(path);
  int value = -1;
  file >> value;
  return file ? value : -1;
}

/// The directory of a processor has a link named nodeN.
int numa_of(const std::string& directory) {
  for (int node = 0; node < kMaxNumaDomains; ++node) {
    if (::access((directory + "/node" + std::to_string(node)).c_str(), F_OK) == 0) return node;
  }
  return 0;
}

int& object(Processor& processor, Unit unit) { return processor.object[static_cast<std::size_t>(unit)]; }

/// A cache is named by the first processor that shares it; one that does not exist by what it would be in.
void read_caches(const std::string& directory, Processor& processor) {
  const int core = object(processor, Unit::core);
  object(processor, Unit::l1cache) = object(processor, Unit::l2cache) = core;
  object(processor, Unit::l3cache) = object(processor, Unit::socket);
  for (int index = 0; index < kMaxCaches; ++index) {
    const std::string cache = directory + "/cache/index" + std::to_string(index);
    const int level = read_number(cache + "/level");
    if (level < 0) return;
    std::string type;
    std::ifstream(cache + "/type") >> type;
    const int first = read_number(cache + "/shared_cpu_list");
    if (type == "Instruction" || first < 0 || level > 3) continue;
    object(processor, level == 1 ? Unit::l1cache : level == 2 ? Unit::l2cache : Unit::l3cache) = first;
  }
}

}  // namespace

void put_in_order(Machine& machine) {
  const auto key = [](const Processor& processor) {
    const auto of = [&](Unit unit) { return processor.object[static_cast<std::size_t>(unit)]; };
    return std::array{of(Unit::socket),  of(Unit::numa), of(Unit::l3cache),
                      of(Unit::l2cache), of(Unit::core), processor.number};
  };
  std::sort(machine.begin(), machine.end(),
            [&](const Processor& one, const Processor& other) { return key(one) < key(other); });
}

Machine machine_here() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  Machine machine;
  std::map<std::pair<int, int>, int> cores;  // numbers of cores count within their socket
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string directory = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    Processor processor{cpu, {}};
    const int socket = std::max(read_number(directory + "/topology/physical_package_id"), 0);
    const int core = read_number(directory + "/topology/core_id");
    object(processor, Unit::socket) = socket;
    object(processor, Unit::core) = cores.try_emplace({socket, core < 0 ? cpu : core}, cpu).first->second;
    object(processor, Unit::processor) = object(processor, Unit::hwthread) = cpu;
    object(processor, Unit::numa) = numa_of(directory);
    read_caches(directory, processor);
    machine.push_back(processor);
  }
  put_in_order(machine);
  return machine;
}

std::vector<std::vector<std::size_t>> objects_of(const Machine& machine, Unit unit) {
  std::vector<std::vector<std::size_t>> objects;
  std::map<int, std::size_t> known;
  for (std::size_t i = 0; i < machine.size(); ++i) {
    const int name = machine[i].object[static_cast<std::size_t>(unit)];
    const auto [at, added] = known.try_emplace(name, objects.size());
    if (added) objects.emplace_back();
    objects[at->second].push_back(i);
  }
  if (unit == Unit::processor) {
    std::sort(objects.begin(), objects.end(),
              [&](const auto& a, const auto& b) { return machine[a[0]].number < machine[b[0]].number; });
  }
  return objects;
}

}  // namespace starling::mpiexec

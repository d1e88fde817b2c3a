// SPDX-License-Identifier: BSD-3-Clause
// What this machine offers to a job: cores, caches, memory, shared memory. hwloc is linked by tools only;
// the library loads it when asked (mpi/hardware).
// Layer: tools.

#include <hwloc.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "tools/starling-info/sections.hpp"

namespace starling::info {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Topology load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

void print_caches(hwloc_topology* topology, Printer& printer) {
  struct Level {
    hwloc_obj_type_t type;
    const char* name;
  };
  for (const auto& [type, name] :
       {Level{HWLOC_OBJ_L1CACHE, "L1"}, Level{HWLOC_OBJ_L2CACHE, "L2"}, Level{HWLOC_OBJ_L3CACHE, "L3"}}) {
    const int count = hwloc_get_nbobjs_by_type(topology, type);
    const hwloc_obj_t first = count > 0 ? hwloc_get_obj_by_type(topology, type, 0) : nullptr;
    if (first == nullptr || first->attr == nullptr) continue;
    const int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, first->cpuset, HWLOC_OBJ_CORE);
    const std::string key = std::string("machine.cache.") + name;
    printer.line(1, std::string(name) + ": " + std::to_string(count) + " of " +
                        size_text(first->attr->cache.size) + ", each shared by " + std::to_string(cores) +
                        (cores == 1 ? " core" : " cores"));
    printer.fact(key + ".count", std::int64_t{count});
    printer.fact(key + ".bytes", static_cast<std::int64_t>(first->attr->cache.size));
    printer.fact(key + ".cores", std::int64_t{cores});
  }
}

void print_processors(Printer& printer) {
  const Topology topology = load();
  if (topology == nullptr) {
    printer.line(1, "the topology cannot be read (hwloc)");
    return;
  }
  const auto count = [&](hwloc_obj_type_t type) { return hwloc_get_nbobjs_by_type(topology.get(), type); };
  const int allowed = hwloc_bitmap_weight(hwloc_topology_get_allowed_cpuset(topology.get()));
  const auto memory = hwloc_get_root_obj(topology.get())->total_memory;
  printer.line(1, std::to_string(count(HWLOC_OBJ_PACKAGE)) + " packages, " +
                      std::to_string(count(HWLOC_OBJ_CORE)) + " cores, " +
                      std::to_string(count(HWLOC_OBJ_PU)) + " hardware threads (" + std::to_string(allowed) +
                      " allowed here), " + std::to_string(count(HWLOC_OBJ_NUMANODE)) +
                      " NUMA nodes, memory " + size_text(memory));
  printer.fact("machine.packages", std::int64_t{count(HWLOC_OBJ_PACKAGE)});
  printer.fact("machine.cores", std::int64_t{count(HWLOC_OBJ_CORE)});
  printer.fact("machine.threads", std::int64_t{count(HWLOC_OBJ_PU)});
  printer.fact("machine.threads_allowed", std::int64_t{allowed});
  printer.fact("machine.numa_nodes", std::int64_t{count(HWLOC_OBJ_NUMANODE)});
  printer.fact("machine.memory_bytes", static_cast<std::int64_t>(memory));
  print_caches(topology.get(), printer);
}

void print_shared_memory(Printer& printer) {
  struct statvfs status {};
  if (::statvfs("/dev/shm", &status) != 0) {
    printer.line(1, "/dev/shm: not there; jobs under our mpiexec do not need it");
    printer.fact("machine.dev_shm_bytes", std::int64_t{0});
    return;
  }
  const std::uint64_t size = status.f_blocks * status.f_frsize;
  const std::uint64_t left = status.f_bavail * status.f_frsize;
  printer.line(1, "/dev/shm: " + size_text(size) + ", " + size_text(left) + " free");
  printer.fact("machine.dev_shm_bytes", static_cast<std::int64_t>(size));
  printer.fact("machine.dev_shm_free_bytes", static_cast<std::int64_t>(left));
}

void print_single_copy(Printer& printer) {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  printer.line(
      1, "kernel.yama.ptrace_scope: " + std::to_string(scope) +
             (scope == 0 ? ""
                         : " (reading another process's memory may be refused; messages go through shared "
                           "memory then)"));
  printer.fact("machine.ptrace_scope", std::int64_t{scope});
}

}  // namespace

void print_machine(const Context&, Printer& printer) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  printer.title(std::string("machine: ") + host);
  printer.fact("machine.host", host);
  print_processors(printer);
  print_shared_memory(printer);
  print_single_copy(printer);
}

}  // namespace starling::info

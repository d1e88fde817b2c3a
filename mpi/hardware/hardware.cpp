// SPDX-License-Identifier: BSD-3-Clause
// Asking hwloc where this process is bound. Only its C types are used at build time; the functions come from
// the library that the machine has. Layer: mpi.

#include "mpi/hardware/hardware.hpp"

#include <hwloc.h>
#include <sched.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "core/shared_library.hpp"

namespace starling::mpi::hardware {
namespace {

constexpr const char* kLibrary = "libhwloc.so.15";
constexpr std::string_view kScheme = "hwloc://";

struct Type {
  hwloc_obj_type_t type;
  const char* name;
};
constexpr std::array kTypes = {
    Type{HWLOC_OBJ_MACHINE, "hwloc://Machine"},
    Type{HWLOC_OBJ_PACKAGE, "hwloc://Package"},
    Type{HWLOC_OBJ_NUMANODE, "hwloc://NUMANode"},
    Type{HWLOC_OBJ_DIE, "hwloc://Die"},
    Type{HWLOC_OBJ_L3CACHE, "hwloc://L3Cache"},
    Type{HWLOC_OBJ_L2CACHE, "hwloc://L2Cache"},
    Type{HWLOC_OBJ_L1CACHE, "hwloc://L1Cache"},
    Type{HWLOC_OBJ_CORE, "hwloc://Core"},
    Type{HWLOC_OBJ_PU, "hwloc://PU"},
};

/// The functions of hwloc 2 that are needed.
struct Library {
  decltype(&::hwloc_topology_init) topology_init = nullptr;
  decltype(&::hwloc_topology_load) topology_load = nullptr;
  decltype(&::hwloc_get_cpubind) get_cpubind = nullptr;
  decltype(&::hwloc_get_type_depth) get_type_depth = nullptr;
  decltype(&::hwloc_get_nbobjs_by_depth) get_nbobjs_by_depth = nullptr;
  decltype(&::hwloc_get_obj_by_depth) get_obj_by_depth = nullptr;
  decltype(&::hwloc_bitmap_alloc) bitmap_alloc = nullptr;
  decltype(&::hwloc_bitmap_free) bitmap_free = nullptr;
  decltype(&::hwloc_bitmap_isincluded) bitmap_isincluded = nullptr;
  hwloc_topology_t topology = nullptr;  ///< null: hwloc cannot be used; kept to the end
};

Library load() {
  Library library;
  auto hwloc = SharedLibrary::open(kLibrary);
  if (!hwloc) return library;
  hwloc->find("hwloc_topology_init", library.topology_init);
  hwloc->find("hwloc_topology_load", library.topology_load);
  hwloc->find("hwloc_get_cpubind", library.get_cpubind);
  hwloc->find("hwloc_get_type_depth", library.get_type_depth);
  hwloc->find("hwloc_get_nbobjs_by_depth", library.get_nbobjs_by_depth);
  hwloc->find("hwloc_get_obj_by_depth", library.get_obj_by_depth);
  hwloc->find("hwloc_bitmap_alloc", library.bitmap_alloc);
  hwloc->find("hwloc_bitmap_free", library.bitmap_free);
  hwloc->find("hwloc_bitmap_isincluded", library.bitmap_isincluded);
  hwloc_topology_t topology = nullptr;
  if (!hwloc->complete() || library.topology_init(&topology) != 0) return library;
  if (library.topology_load(topology) == 0) library.topology = topology;
  return library;
}

/// The instance that holds all of `bound`, if there is one.
std::optional<int> instance(const Library& hwloc, int depth, hwloc_const_bitmap_t bound) {
  const unsigned count = hwloc.get_nbobjs_by_depth(hwloc.topology, depth);
  for (unsigned i = 0; i < count; ++i) {
    const hwloc_obj_t object = hwloc.get_obj_by_depth(hwloc.topology, depth, i);
    if (object == nullptr || object->cpuset == nullptr) continue;
    if (hwloc.bitmap_isincluded(bound, object->cpuset) != 0) return static_cast<int>(object->logical_index);
  }
  return std::nullopt;
}

/// Whether there are processors that this process may not use.
bool bound() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
         CPU_COUNT(&allowed) < ::sysconf(_SC_NPROCESSORS_ONLN);
}

}  // namespace

std::vector<Place> places() {
  static const Library hwloc = load();
  std::vector<Place> found;
  if (hwloc.topology == nullptr) return found;
  const std::unique_ptr<hwloc_bitmap_s, decltype(hwloc.bitmap_free)> bound(hwloc.bitmap_alloc(),
                                                                           hwloc.bitmap_free);
  if (bound == nullptr || hwloc.get_cpubind(hwloc.topology, bound.get(), HWLOC_CPUBIND_PROCESS) != 0)
    return found;
  for (const Type& type : kTypes) {
    const int depth = hwloc.get_type_depth(hwloc.topology, type.type);
    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) continue;
    found.push_back({type.name, instance(hwloc, depth, bound.get())});
  }
  return found;
}

std::array<std::int32_t, 3> domains() {
  constexpr std::array<std::string_view, 3> kLevels{"hwloc://L3Cache", "hwloc://NUMANode", "hwloc://Package"};
  std::array<std::int32_t, 3> found{-1, -1, -1};
  if (!bound()) return found;
  for (const Place& place : places()) {
    const auto* const at = std::find(kLevels.begin(), kLevels.end(), place.type);
    if (at != kLevels.end()) found[static_cast<std::size_t>(at - kLevels.begin())] = place.index.value_or(-1);
  }
  return found;
}

bool same_type(std::string_view type, std::string_view name) {
  const auto equal = [](std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
  };
  return equal(type, name) || equal(type.substr(kScheme.size()), name);
}

}  // namespace starling::mpi::hardware

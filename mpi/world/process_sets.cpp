// SPDX-License-Identifier: BSD-3-Clause
// The process sets that every session has. Layer: mpi.

#include "mpi/world/process_sets.hpp"

#include <strings.h>

#include <array>

#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

constexpr std::array<std::string_view, 3> kProcessSets = {"mpi://WORLD", "mpi://SELF", "mpix://NODE"};

}  // namespace

std::vector<std::string> process_sets() { return {kProcessSets.begin(), kProcessSets.end()}; }

Ref<Group> group_of_process_set(std::string_view name) {
  Runtime& runtime = *Runtime::get();
  ProcListPtr members;
  if (same_name(name, kProcessSets[0])) {
    members = make_strided(ProcId{0, 0}, 1, runtime.world_size());
  } else if (same_name(name, kProcessSets[1])) {
    members = make_strided(runtime.self(), 1, 1);
  } else if (same_name(name, kProcessSets[2])) {
    std::vector<ProcId> procs;
    for (const std::uint32_t rank : runtime.node_ranks()) procs.push_back(ProcId{0, rank});
    members = make_list(std::move(procs));
  } else {
    return {};
  }
  return Ref<Group>::adopt(new Group(std::move(members)));
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// The process sets that every session has. Layer: mpi.

#include "mpi/world/process_sets.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

constexpr std::array<std::string_view, 3> kProcessSets = {"mpi://WORLD", "mpi://SELF", "mpix://NODE"};

/// Those of the launcher, which is asked once, when somebody wants to know. Names that begin as ours do are
/// reserved (MPI 5.0, 11.3.3). Asking gives the runtime's lock away: two threads may ask, and one answer
/// stays.
const std::vector<pmi::ProcessSet>& sets_of_launcher() {
  static constinit std::optional<std::vector<pmi::ProcessSet>> sets;
  if (sets) return *sets;
  std::vector<pmi::ProcessSet> found = Runtime::get()->pmi().process_sets();
  std::erase_if(found, [](const pmi::ProcessSet& set) {
    return same_name(std::string_view(set.name).substr(0, 6), "mpi://") ||
           same_name(std::string_view(set.name).substr(0, 7), "mpix://");
  });
  if (!sets) sets = std::move(found);
  return *sets;
}

}  // namespace

std::vector<std::string> process_sets() {
  // A process that has met nobody may not know its node yet. Sets that come later have higher numbers.
  static const bool knew_node = Runtime::get()->seating().known();
  std::vector<std::string> names(kProcessSets.begin(), kProcessSets.end() - (knew_node ? 0 : 1));
  for (const pmi::ProcessSet& set : sets_of_launcher()) names.push_back(set.name);
  if (!knew_node && Runtime::get()->seating().known()) names.emplace_back(kProcessSets.back());
  return names;
}

Ref<Group> group_of_process_set(std::string_view name) {
  Runtime& runtime = *Runtime::get();
  ProcListPtr members;
  if (same_name(name, kProcessSets[0])) {
    members = make_strided(ProcId{0, 0}, 1, runtime.place().world_size());
  } else if (same_name(name, kProcessSets[1])) {
    members = make_strided(runtime.self(), 1, 1);
  } else if (same_name(name, kProcessSets[2])) {
    if (!runtime.seating().known()) return {};
    std::vector<ProcId> procs;
    for (const std::uint32_t rank : runtime.place().node_ranks()) procs.push_back(ProcId{0, rank});
    members = make_list(std::move(procs));
  } else {
    const auto& sets = sets_of_launcher();
    const auto set =
        std::find_if(sets.begin(), sets.end(), [name](const auto& one) { return same_name(one.name, name); });
    if (set == sets.end()) return {};
    std::vector<ProcId> procs;
    for (const std::uint32_t rank : set->ranks) procs.push_back(ProcId{0, rank});
    members = make_list(std::move(procs));
  }
  return Ref<Group>::adopt(new Group(std::move(members)));
}

}  // namespace starling::mpi

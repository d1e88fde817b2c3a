// SPDX-License-Identifier: BSD-3-Clause
// Splitting by what processes share. What is hard: all members must come to the same partition from what each
// knows of itself only, so their places are exchanged and everybody colors them alike. Layer: mpi. MPI 5.0
// section 7.4.2.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "mpi/api.gen.hpp"
#include "mpi/creation/exchange.hpp"
#include "mpi/creation/factory.hpp"
#include "mpi/creation/inter.hpp"
#include "mpi/creation/inter_exchange.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/hardware/hardware.hpp"
#include "mpi/info/info.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/world/process_sets.hpp"

namespace starling::mpi::api {
namespace {

constexpr const char* kResourceType = "mpi_hw_resource_type";
constexpr const char* kSharedMemory = "mpi_shared_memory";
constexpr const char* kProcessSet = "mpi_pset_name";
constexpr std::int32_t kNowhere = -1;
constexpr std::size_t kLevels = 16;

/// Processes with the same place share the resource; kNowhere: not restricted to one.
struct Place {
  std::int32_t node = 0;
  std::int32_t index = kNowhere;
  friend bool operator==(const Place&, const Place&) = default;
};

/// What each process tells, whatever it asks for, since some may ask for nothing (MPI_UNDEFINED).
struct Record {
  Place place;                               ///< in the resource that was named
  std::array<std::int32_t, kLevels> levels;  ///< unguided: the index at every level, coarse to fine
};

/// A node is named by its lowest rank.
std::int32_t this_node() { return static_cast<std::int32_t>(Runtime::get()->place().node_ranks().front()); }

Record record(Place place) {
  Record told;
  told.place = place;
  told.levels.fill(kNowhere);
  return told;
}

/// The place of the resource type that `info` names.
Place guided(const Info* info) {
  const auto wanted = info == nullptr ? std::nullopt : info->get(kResourceType);
  if (!wanted) return {};
  if (*wanted == kSharedMemory) return {this_node(), 0};
  for (const hardware::Place& place : hardware::places()) {
    if (hardware::same_type(place.type, *wanted)) return {this_node(), place.index.value_or(kNowhere)};
  }
  return {};
}

/// Members of a process set share that set.
Place by_process_set(const std::string& name) {
  const Ref<Group> group = group_of_process_set(name);
  if (!group || !group->find(Runtime::get()->self())) return {};
  return {static_cast<std::int32_t>(group->at(0).rank), 0};
}

/// Level 0 is the node itself, the others are hwloc's.
Record unguided(const std::vector<hardware::Place>& places) {
  Record told = record({this_node(), kNowhere});
  told.levels[0] = 0;
  for (std::size_t i = 0; i < std::min(places.size(), kLevels - 1); ++i) {
    told.levels[i + 1] = places[i].index.value_or(kNowhere);
  }
  return told;
}

/// The first level at which the members are not all together; kLevels if there is none.
std::size_t dividing_level(const std::vector<Record>& all) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    const auto nowhere = [level](const Record& one) { return one.levels[level] == kNowhere; };
    const auto with_first = [&](const Record& one) {
      return one.place.node == all[0].place.node && one.levels[level] == all[0].levels[level];
    };
    if (std::all_of(all.begin(), all.end(), nowhere)) continue;
    if (!std::all_of(all.begin(), all.end(), with_first)) return level;
  }
  return kLevels;
}

/// What all members have told, in an order that is the same on all of them. Of an intercommunicator both
/// groups count: a place that only one of them has makes no new one.
struct Told {
  std::vector<Record> all;
  std::size_t own = 0;  ///< index of this process
};

int exchange(Comm& comm, const Record& mine, Told& told) {
  const auto sent = std::as_bytes(std::span<const Record, 1>(&mine, 1));
  told.all.resize(comm.size() + (comm.inter() ? comm.peer_count() : 0));
  told.own = comm.rank();
  const std::span<Record> all(told.all);
  if (!comm.inter()) return allgather_bytes(comm, sent, std::as_writable_bytes(all));
  const std::size_t ours = leads(comm) ? 0 : comm.peer_count(), theirs = leads(comm) ? comm.size() : 0;
  told.own += ours;
  return allgather_groups(comm, sent, std::as_writable_bytes(all.subspan(ours, comm.size())),
                          std::as_writable_bytes(all.subspan(theirs, comm.peer_count())));
}

/// Splits by place; the color is the first member that has it.
Made split(Comm& comm, const Told& told, int key) {
  const Place mine = told.all[told.own].place;
  const auto first =
      std::find_if(told.all.begin(), told.all.end(), [&](const Record& one) { return one.place == mine; });
  const int color = mine.index == kNowhere ? MPI_UNDEFINED : static_cast<int>(first - told.all.begin());
  return comm.inter() ? inter_split(comm, color, key) : CommFactory::split(comm, color, key);
}

/// MPI_COMM_TYPE_HW_UNGUIDED: the largest strict subsets that share something; the info gets its name.
Made split_unguided(Comm& comm, Told& told, const std::vector<hardware::Place>& places, int key, Info* info) {
  const std::size_t level = dividing_level(told.all);
  for (Record& one : told.all) one.place.index = level == kLevels ? kNowhere : one.levels[level];
  const Made made = split(comm, told, key);
  if (made.comm != nullptr && info != nullptr)
    info->set(kResourceType, level == 0 ? std::string(kSharedMemory) : places[level - 1].type);
  return made;
}

int bad_split_type(int split_type) {
  return error(MPI_ERR_ARG,
               "split_type is " + std::to_string(split_type) + ", expected MPI_COMM_TYPE_* or MPI_UNDEFINED");
}

}  // namespace

int Comm_split_type(Comm& comm, int split_type, int key, Info* info, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  const bool free_choice = split_type == MPI_COMM_TYPE_HW_UNGUIDED;
  std::vector<hardware::Place> places;
  Record mine = record({});
  switch (split_type) {
    case MPI_COMM_TYPE_SHARED: mine = record({this_node(), 0}); break;
    case MPI_COMM_TYPE_HW_GUIDED: mine = record(guided(info)); break;
    case MPI_COMM_TYPE_RESOURCE_GUIDED: {
      const auto set = info == nullptr ? std::nullopt : info->get(kProcessSet);
      mine = record(set ? by_process_set(*set) : guided(info));
      break;
    }
    case MPI_COMM_TYPE_HW_UNGUIDED:
      places = hardware::places();
      mine = unguided(places);
      break;
    case MPI_UNDEFINED: break;
    default: return bad_split_type(split_type);
  }
  Told told;
  if (const int rc = exchange(comm, mine, told); rc != MPI_SUCCESS) return rc;
  const Made made = free_choice ? split_unguided(comm, told, places, key, info) : split(comm, told, key);
  if (made.comm != nullptr) *newcomm = as_handle<MPI_Comm>(made.comm->handle());
  return made.error_class;
}

int Get_hw_resource_info(MPI_Info* hw_info) {
  Info::Entries entries;
  for (const hardware::Place& place : hardware::places())
    entries.emplace_back(place.type, place.index ? "true" : "false");
  entries.emplace_back(kSharedMemory, "true");
  *hw_info = new_handle<MPI_Info>(tables().info, Ref<Info>::adopt(new Info(std::move(entries))));
  return *hw_info != MPI_INFO_NULL ? MPI_SUCCESS : too_many("info objects");
}

}  // namespace starling::mpi::api

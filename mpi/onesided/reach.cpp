// SPDX-License-Identifier: BSD-3-Clause
// Ways to the targets of a window. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/reach.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "frameworks/shm/memory/maps.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

std::uint64_t all_active_messages = 0;

/// Targets of all windows so far, by path and reason.
std::map<std::string, std::uint64_t>& counts() {
  static std::map<std::string, std::uint64_t> all;
  return all;
}

std::map<std::string, std::uint64_t>& native_counts() {
  static std::map<std::string, std::uint64_t> all;
  return all;
}

class Reach {
 public:
  Reach(const Ground& ground, std::vector<Mapping>& mapped) noexcept : ground_(ground), mapped_(mapped) {}

  /// Of a local peer; its seat and local rank are known.
  void local_peer(Target& target, std::uint32_t rank) {
    const Proposal& proposal = ground_.proposals[rank];
    const bool self = rank == ground_.self;
    if (ground_.flavor == MPI_WIN_FLAVOR_DYNAMIC) {
      if (self) return direct(target, nullptr, "the process's own memory");
      target.path = Path::message;  // what else there is: near_ways()
      return;
    }
    if (ground_.flavor != MPI_WIN_FLAVOR_CREATE && (self || ground_.choice != PathChoice::copy))
      return direct(target, ground_.memory.part(target.seat), "mapped memory");
    if (self)
      return direct(target, reinterpret_cast<std::byte*>(proposal.address), "the process's own memory");
    if (proposal.size == 0) return direct(target, nullptr, "no memory");
    std::string why_not;
    if (map(target, proposal, why_not)) return;
    const int error = CrossMemory::of(target).try_out(proposal.probe);
    if (error == 0) {
      target.path = Path::copy;
      return count("copies by the kernel: " + why_not);
    }
    elsewhere(target, why_not + ", and no copies by the kernel (" + std::strerror(error) + ")");
  }
  static void elsewhere(Target& target, const std::string& why) {
    target.path = Path::message;
    count("messages: " + why);
  }

  static void count(const std::string& way) { ++counts()[way]; }

 private:
  static void direct(Target& target, std::byte* base, const char* why) {
    target.base = base;
    target.path = Path::direct;
    count(std::string("loads and stores: ") + why);
  }
  bool map(Target& target, const Proposal& proposal, std::string& why_not) {
    if (ground_.choice == PathChoice::copy) {
      why_not = "onesided_path=copy";
      return false;
    }
    if (proposal.object == 0) {
      why_not = "memory that is not MPI_Alloc_mem's";
      return false;
    }
    shm::MemoryMaps maps(Runtime::get()->place().segment(), 1, Access::read_write);
    auto mapping = maps.fetch(target.local_rank, proposal.address, proposal.size);
    if (!mapping) {
      why_not = "memory of MPI_Alloc_mem that cannot be mapped (" + mapping.error().text() + ")";
      return false;
    }
    direct(target, mapping->data() + (proposal.address - proposal.object), "memory of MPI_Alloc_mem");
    mapped_.push_back(std::move(*mapping));
    return true;
  }

  const Ground& ground_;
  std::vector<Mapping>& mapped_;
};

}  // namespace

LocalPeers local_peers_of(const Comm& comm, bool alone) {
  LocalPeers local_peers;
  const Place& place = Runtime::get()->place();
  const std::vector<std::uint32_t>& here = place.node_ranks();
  for (std::uint32_t rank = 0; rank < comm.size(); ++rank) {
    const ProcId proc = comm.group()->at(rank);
    const bool self = rank == comm.rank();
    if (!self && (alone || !place.on_node(proc))) continue;
    const auto at = std::lower_bound(here.begin(), here.end(), proc.rank);
    if (self) local_peers.domain.seat = static_cast<std::uint32_t>(local_peers.domain.local_peers.size());
    local_peers.domain.local_peers.push_back(rank);
    local_peers.local_ranks.push_back(static_cast<std::uint32_t>(at - here.begin()));
  }
  return local_peers;
}

std::vector<Target> reach(const Ground& ground, std::vector<Mapping>& mapped) {
  const Proposals& proposals = ground.proposals;
  const LocalPeers& local_peers = ground.local_peers;
  std::vector<Target> targets(proposals.size());
  for (std::size_t rank = 0; rank < proposals.size(); ++rank) {
    targets[rank].size = proposals[rank].size;
    targets[rank].unit = proposals[rank].unit;
    targets[rank].address = proposals[rank].address;
  }
  Reach way(ground, mapped);
  for (std::uint32_t seat = 0; seat < local_peers.domain.local_peers.size(); ++seat) {
    const std::uint32_t rank = local_peers.domain.local_peers[seat];
    targets[rank].seat = seat;
    targets[rank].local_rank = local_peers.local_ranks[seat];
    way.local_peer(targets[rank], rank);
  }
  const char* const why = ground.choice == PathChoice::message ? "onesided_path=message" : "another node";
  for (Target& target : targets) {
    if (target.seat == Target::kElsewhere) Reach::elsewhere(target, why);
  }
  return targets;
}

std::vector<Target> near_ways(const std::vector<Target>& targets, std::uint32_t self,
                              const Proposals& proposals, const LocalPeers& local_peers) {
  std::vector<Target> ways;
  for (const std::uint32_t rank : local_peers.domain.local_peers) {
    Target& way = ways.emplace_back(targets[rank]);
    if (rank == self) continue;
    const int error = CrossMemory::of(way).try_out(proposals[rank].probe);
    if (error == 0) {
      way.path = Path::copy;
      Reach::count("copies by the kernel of what is attached, by messages if it is more than " +
                   std::to_string(AttachedTable::kMost) + " pieces");
    } else {
      Reach::elsewhere(way, std::string("no copies by the kernel (") + std::strerror(error) + ")");
    }
  }
  return ways;
}

void note_native(const std::string& transport, std::uint64_t accesses) {
  if (accesses != 0) native_counts()[transport] += accesses;
}

void note_active_messages(std::uint64_t active_messages) { all_active_messages += active_messages; }

std::vector<std::string> path_lines() {
  std::vector<std::string> lines;
  for (const auto& [way, targets] : counts())
    lines.push_back("one-sided: " + std::to_string(targets) +
                    (targets == 1 ? " target by " : " targets by ") + way);
  for (const auto& [transport, accesses] : native_counts())
    lines.push_back("one-sided: " + std::to_string(accesses) + " puts and gets by btl/" + transport +
                    " itself");
  if (all_active_messages != 0)
    lines.push_back("one-sided: " + std::to_string(all_active_messages) +
                    " operations by targets that waited in MPI");
  return lines;
}

}  // namespace starling::mpi

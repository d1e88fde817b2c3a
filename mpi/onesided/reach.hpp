// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which path leads to each target of a window, and why. Layer: mpi. docs/design/onesided.md
///
/// Accumulates to a target are atomic to each other on every path: whoever changes an element holds its
/// stripe meanwhile. For operations that come as messages, the target holds it.
///
/// Threads:   under the runtime's lock.
/// Errors:    none: what fails leaves a longer path.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/onesided/domain_memory.hpp"
#include "mpi/onesided/proposal.hpp"
#include "mpi/onesided/target.hpp"
#include "mpi/runtime/params.hpp"

namespace starling::mpi {

/// Which members are in this one's domain. `local_ranks`: of the local peers. `alone`: only this one.
struct LocalPeers {
  Domain domain;
  std::vector<std::uint32_t> local_ranks;
};
[[nodiscard]] LocalPeers local_peers_of(const Comm& comm, bool alone);

/// What leads to the targets of a window.
struct Ground {
  int flavor;
  std::uint32_t self;
  PathChoice choice;
  const Proposals& proposals;
  const LocalPeers& local_peers;
  const DomainMemory& memory;
};

/// All its targets; `mapped` takes the maps that were made for them.
[[nodiscard]] std::vector<Target> reach(const Ground& ground, std::vector<Mapping>& mapped);

/// Of a dynamic window, by seat: how to reach what local peers have attached without them; else
/// Path::message.
[[nodiscard]] std::vector<Target> near_ways(const std::vector<Target>& targets, std::uint32_t self,
                                            const Proposals& proposals, const LocalPeers& local_peers);

/// A window has been freed. `accesses`: its puts and gets that this transport did itself.
void note_native(const std::string& transport, std::uint64_t accesses);

/// As note_native(): its operations that targets did because they waited in MPI.
void note_active_messages(std::uint64_t active_messages);

/// What the report says: how many targets were reached by which path, and why not by a shorter one.
[[nodiscard]] std::vector<std::string> path_lines();

}  // namespace starling::mpi

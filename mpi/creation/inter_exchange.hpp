// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Small exchanges among both groups of an intercommunicator, for making communicators. Layer: mpi.
///
/// A process can send to the remote group only, so what its own group has to know takes a detour through the
/// remote group's rank 0. Both are collective over both groups, in the order of collective calls.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Errors:    MPI error classes (mpi/error.hpp).
/// Units:     bytes.

#include <cstddef>
#include <span>

#include "mpi/comm/comm.hpp"

namespace starling::mpi {

/// Of two groups that are to be put in an order that both agree on: ours is the first one.
[[nodiscard]] inline bool leads(const Comm& comm) noexcept {
  return comm.group()->at(0) < comm.remote_group()->at(0);
}

/// What rank 0 of the own and of the other group has in `ours`, to everybody in both. Equal sizes.
[[nodiscard]] int share_of_roots(Comm& comm, std::span<std::byte> ours, std::span<std::byte> theirs);
/// What every process has in `mine` (equal sizes), to everybody: in rank order, group by group.
[[nodiscard]] int allgather_groups(Comm& comm, std::span<const std::byte> mine, std::span<std::byte> ours,
                                   std::span<std::byte> theirs);

}  // namespace starling::mpi

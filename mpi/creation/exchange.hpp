// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Small exchanges among the members of a communicator, for making communicators. Layer: mpi.
///
/// They run on the collective channel in the order of collective calls, like every collective, and do not
/// depend on the collective component.
/// Threads: under the runtime's lock, which waiting releases.
/// Errors:    MPI error classes (mpi/error.hpp).
/// Units: bytes.

#include <cstddef>
#include <span>

#include "mpi/comm/comm.hpp"

namespace starling::mpi {

/// The memory of one value.
template <class T>
std::span<std::byte> bytes_of(T& value) noexcept {
  return std::as_writable_bytes(std::span<T, 1>(&value, 1));
}

/// The bytes of rank `root` to everybody: binomial tree.
[[nodiscard]] int bcast_bytes(Comm& comm, std::span<std::byte> bytes, std::uint32_t root);
/// Everybody's `mine` (equal sizes) to everybody, in rank order in `all` (size() x mine.size()): Bruck's
/// algorithm, log2(size) steps.
[[nodiscard]] int allgather_bytes(Comm& comm, std::span<const std::byte> mine, std::span<std::byte> all);
/// Returns when every member has called it: dissemination, log2(size) steps.
[[nodiscard]] int barrier(Comm& comm);

}  // namespace starling::mpi

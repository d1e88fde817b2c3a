// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The argument checks that generated entry points are made of. Layer: mpi.
///
/// valid_* and suspicious are inline and cheap; what builds a message is cold and out of line.
/// Threads: any.
/// Errors:    the others note the detail (mpi/error.hpp) and return the error class, or MPI_SUCCESS.

#include <cstdint>

#include "mpi.h"
#define MPIX_CONSTANTS_ONLY
#include "mpix.h"
#undef MPIX_CONSTANTS_ONLY
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/int_array.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/session/session.hpp"
#include "mpi/topology/topology.hpp"

namespace starling::mpi::check {

[[nodiscard]] inline bool active() noexcept { return the_registry.active.load(std::memory_order_relaxed); }

[[nodiscard]] inline bool in_range(int rank, std::uint32_t count) noexcept {
  return static_cast<std::uint32_t>(rank) < count;
}
[[nodiscard]] inline bool valid_dest(int dest, const Comm& comm) noexcept {
  return in_range(dest, comm.peer_count()) || dest == MPI_PROC_NULL;
}
[[nodiscard]] inline bool valid_source(int source, const Comm& comm) noexcept {
  return in_range(source, comm.peer_count()) || source == MPI_ANY_SOURCE || source == MPI_PROC_NULL;
}
[[nodiscard]] inline bool valid_root(int root, const Comm& comm) noexcept {
  return in_range(root, comm.peer_count()) || (comm.inter() && (root == MPI_ROOT || root == MPI_PROC_NULL));
}
/// MPI_TAG_UB is the largest int, so every tag that is not negative is valid.
[[nodiscard]] inline bool valid_tag(int tag, bool any) noexcept {
  return tag >= 0 || (any && tag == MPI_ANY_TAG);
}

// Who does what in a rooted collective (MPI 5.0 section 6.2.2); the root has been checked.
[[nodiscard]] inline bool at_root(const Comm& comm, int root) noexcept {
  return comm.inter() ? root == MPI_ROOT : static_cast<std::uint32_t>(root) == comm.rank();
}
/// Not one of the idle processes in the root's group of an intercommunicator.
[[nodiscard]] inline bool takes_part(const Comm& comm, int root) noexcept {
  return !comm.inter() || root != MPI_PROC_NULL;
}
/// Its non-root buffer counts: everybody in an intracommunicator, the remote group otherwise.
[[nodiscard]] inline bool contributes(const Comm& comm, int root) noexcept {
  return !comm.inter() || root >= 0;
}

// Neighbourhood collectives (MPI 5.0 section 8.6); that the communicator has a topology has been checked.
[[nodiscard]] inline bool has_topology(const Comm& comm) noexcept { return comm.topology != nullptr; }
[[nodiscard]] inline std::uint32_t in_degree(const Comm& comm) noexcept {
  return static_cast<std::uint32_t>(comm.topology->neighbors().sources.size());
}
[[nodiscard]] inline std::uint32_t out_degree(const Comm& comm) noexcept {
  return static_cast<std::uint32_t>(comm.topology->neighbors().destinations.size());
}
/// `count` where there is a neighbour to receive from or to send to; without one the buffer is not looked at.
[[nodiscard, gnu::cold]] MPI_Count received(const Comm& comm, MPI_Count count) noexcept;
[[nodiscard, gnu::cold]] MPI_Count sent(const Comm& comm, MPI_Count count) noexcept;

/// NULL or one of the small address constants: the ABI's MPI_BOTTOM, MPI_IN_PLACE and MPI_BUFFER_AUTOMATIC,
/// and MPIX_BUFFER_LIBRARY, the largest of them.
[[nodiscard]] inline bool suspicious(const void* buffer) noexcept {
  return reinterpret_cast<std::uintptr_t>(buffer) <= reinterpret_cast<std::uintptr_t>(MPIX_BUFFER_LIBRARY);
}
/// Whether this suspicious address of a receive asks the library for a buffer; `null_asks`: NULL does, too.
[[nodiscard, gnu::cold]] bool asks_library(const void* buffer, MPI_Count count, const Datatype& datatype,
                                           bool null_asks) noexcept;

/// Whether the bytes of so many elements are a number of 63 bits.
[[nodiscard]] inline bool countable(MPI_Count count, const Datatype& datatype) noexcept {
  std::int64_t bytes = 0;
  return !__builtin_mul_overflow(count, datatype.size(), &bytes);
}
[[nodiscard]] inline bool committed(const Datatype& datatype) noexcept { return datatype.committed(); }

[[nodiscard, gnu::cold]] int not_active();
[[nodiscard, gnu::cold]] int not_covered();
[[nodiscard, gnu::cold]] int bad_handle(Kind kind, const char* argument, HandleBits bits);
/// An error handler that was made for objects of another kind than `wanted`.
[[nodiscard, gnu::cold]] int wrong_errhandler(const char* argument, Kind wanted);
[[nodiscard, gnu::cold]] int not_committed(const char* argument, const Datatype& datatype);
[[nodiscard, gnu::cold]] int bad_count(const char* argument, MPI_Count value);
[[nodiscard, gnu::cold]] int uncountable(const char* argument, MPI_Count value, const Datatype& datatype);
/// As bad_count(), for a receive: success for MPIX_COUNT_ANY beside MPIX_BUFFER_LIBRARY.
[[nodiscard, gnu::cold]] int bad_received_count(const char* argument, MPI_Count value, const void* buffer);
[[nodiscard, gnu::cold]] int bad_length(const char* argument, int value);
[[nodiscard, gnu::cold]] int no_topology();
[[nodiscard, gnu::cold]] int null_argument(const char* argument);
[[nodiscard, gnu::cold]] int bad_dest(const char* argument, int value, const Comm& comm);
[[nodiscard, gnu::cold]] int bad_source(const char* argument, int value, const Comm& comm);
[[nodiscard, gnu::cold]] int bad_root(const char* argument, int value, const Comm& comm);
[[nodiscard, gnu::cold]] int bad_tag(const char* argument, int value, bool any);
/// Success if this is a buffer after all: nothing to transfer, a type with absolute addresses, or
/// MPI_IN_PLACE where it may stand.
[[nodiscard, gnu::cold]] int bad_buffer(const char* argument, const void* buffer, MPI_Count count,
                                        const Datatype* datatype, bool in_place_allowed);
/// As above, for a buffer whose counts are an array.
[[nodiscard, gnu::cold]] int bad_buffer(const char* argument, const void* buffer, IntArray counts,
                                        const Datatype* datatype, bool in_place_allowed);
/// As above, for a buffer whose length is not in the call.
[[nodiscard, gnu::cold]] int bad_buffer(const char* argument, const void* buffer, MPI_Count count,
                                        std::nullptr_t, bool in_place_allowed);

/// MPI_SUCCESS, or why the array cannot be used.
[[nodiscard]] int bad_counts(const char* argument, IntArray counts, std::uint32_t length);
/// As above, of a large twin: the bytes of each are a number of 63 bits, too.
[[nodiscard]] int bad_counts(const char* argument, IntArray counts, std::uint32_t length,
                             const Datatype& datatype);
[[nodiscard]] int bad_array(const char* argument, IntArray values, std::uint32_t length);
/// Where nothing is sent or received MPI_DATATYPE_NULL will do: programs give it there.
[[nodiscard]] int bad_types(const char* argument, const MPI_Datatype types[], IntArray counts,
                            std::uint32_t length);

/// Stores a 64-bit result in an int; one that does not fit becomes MPI_UNDEFINED or is an error.
[[nodiscard]] int narrow(const char* argument, MPI_Count value, int* result, bool undefined);

}  // namespace starling::mpi::check

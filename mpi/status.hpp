// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What Starling keeps in the five internal words of an MPI_Status. Layer: mpi. MPI 5.0 section 3.2.5.
///
/// Words 0 and 1: length of the received message in bytes (64 bits); word 2: kCancelled, kManaged; words 3
/// and 4, with kManaged: the handle of the buffer that the library has provided (64 bits), 0 if there is
/// none.
/// Threads: pure functions on the caller's object.

#include <cstdint>
#include <cstring>

#include "mpi.h"

namespace starling::mpi {

inline constexpr int kCancelled = 1;
inline constexpr int kManaged = 2;

inline void set_bytes(MPI_Status& status, std::uint64_t bytes) noexcept {
  std::memcpy(&status.MPI_internal[0], &bytes, sizeof bytes);
}
[[nodiscard]] inline std::uint64_t bytes_of(const MPI_Status& status) noexcept {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, &status.MPI_internal[0], sizeof bytes);
  return bytes;
}
inline void set_cancelled(MPI_Status& status, bool cancelled) noexcept {
  status.MPI_internal[2] = cancelled ? kCancelled : 0;
}
[[nodiscard]] inline bool cancelled(const MPI_Status& status) noexcept {
  return (status.MPI_internal[2] & kCancelled) != 0;
}
/// After set_cancelled().
inline void set_managed(MPI_Status& status, std::uint64_t handle) noexcept {
  status.MPI_internal[2] |= kManaged;
  std::memcpy(&status.MPI_internal[3], &handle, sizeof handle);
}
/// Of a receive whose buffer the library has provided.
[[nodiscard]] inline bool managed(const MPI_Status& status) noexcept {
  return (status.MPI_internal[2] & ~kCancelled) == kManaged;
}
[[nodiscard]] inline std::uint64_t buffer_of(const MPI_Status& status) noexcept {
  std::uint64_t handle = 0;
  std::memcpy(&handle, &status.MPI_internal[3], sizeof handle);
  return handle;
}

/// No message: MPI_ANY_SOURCE, MPI_ANY_TAG, no bytes, not cancelled. MPI_ERROR is left alone: only calls that
/// return several statuses may change it (section 3.2.5).
inline void clear(MPI_Status& status) noexcept {
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
  std::memset(status.MPI_internal, 0, sizeof status.MPI_internal);
}

/// The empty status, of what is no active request: as above, and MPI_ERROR is MPI_SUCCESS (section 3.7.3).
inline void set_empty(MPI_Status& status) noexcept {
  clear(status);
  status.MPI_ERROR = MPI_SUCCESS;
}

}  // namespace starling::mpi

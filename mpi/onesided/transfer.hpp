// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Putting and getting: where a target's data lies, and the path there. Layer: mpi. MPI 5.0 section
/// 12.3; docs/design/onesided.md
///
/// Threads:   under the runtime's lock.
/// Ordering:  in the order of the calls.
/// Errors:    MPI error classes: MPI_ERR_RANK, MPI_ERR_RMA_SYNC, MPI_ERR_DISP, MPI_ERR_RMA_RANGE,
///            MPI_ERR_TRUNCATE.
/// Units:     bytes, unless the name says otherwise.

#include <cstdint>

#include "mpi/datatype/datatype.hpp"
#include "mpi/onesided/window.hpp"

namespace starling::mpi {

/// Elements of a type in this process's memory; `type` is committed.
struct Data {
  void* base;
  std::uint64_t count;
  const Datatype& type;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return count * type.size(); }
};

/// Elements of a type in a target's part of a window.
struct Spot {
  int rank;
  MPI_Aint disp;  ///< in the target's units
  std::uint64_t count;
  const Datatype& type;
};

/// Where the place begins in its target's part, after all checks. `target` is null with MPI_SUCCESS if it is
/// MPI_PROC_NULL or nothing is to be moved.
struct Located {
  const Target* target = nullptr;
  std::uint32_t rank = 0;
  std::uint64_t offset = 0;
};
[[nodiscard]] int locate(Win& win, const Spot& place, Located& found);

/// Whether `rank` is a member, MPI_PROC_NULL included: MPI_SUCCESS or MPI_ERR_RANK.
[[nodiscard]] int check_target(const Win& win, int rank);

/// Copies the elements of `from` to those of `to`, whatever their types; as many bytes as both have.
void copy_elements(const Data& from, const Data& to) noexcept;

[[nodiscard]] int put(Win& win, const Data& origin, const Spot& place);
[[nodiscard]] int get(Win& win, const Data& origin, const Spot& place);

}  // namespace starling::mpi

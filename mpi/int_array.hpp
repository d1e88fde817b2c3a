// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A caller's array of counts or displacements: int, or 64 bits in the _c variant. Layer: mpi.
///
/// Threads: value type. Ownership: borrowed until the MPI call returns; a nonblocking operation that needs it
/// later copies it.

#include <cstddef>

#include "mpi.h"

namespace starling::mpi {

struct IntArray {
  const void* data = nullptr;
  bool wide = false;  ///< elements are 64 bits (MPI_Count, MPI_Aint)

  IntArray() = default;
  IntArray(const int* values) noexcept : data(values), wide(false) {}       // NOLINT: meant to convert
  IntArray(const MPI_Count* values) noexcept : data(values), wide(true) {}  // NOLINT: meant to convert

  [[nodiscard]] MPI_Count operator[](std::size_t index) const noexcept {
    return wide ? static_cast<const MPI_Count*>(data)[index] : static_cast<const int*>(data)[index];
  }
  explicit operator bool() const noexcept { return data != nullptr; }
};
static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "displacements are read as MPI_Count");

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which MPI functions this build implements. Layer: mpi. Threads: any; constant data.
///
/// All 662 are exported; one that is not covered raises MPI_ERR_UNSUPPORTED_OPERATION.

#include <span>

namespace starling::mpi {

struct Coverage {
  const char* name;     ///< "MPI_Send"
  const char* chapter;  ///< "pt2pt"
  bool covered;
};
/// Of the standard.
[[nodiscard]] std::span<const Coverage> coverage() noexcept;
/// What include/mpix.h declares.
[[nodiscard]] std::span<const Coverage> extensions() noexcept;

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The performance variables of this process. Layer: mpi. MPI 5.0 section 15.3.7.
///
/// They show what the library counts anyway, from the start of the process on: bound to no object, read-only,
/// always running. The list is fixed. Before MPI is initialised every value is 0; after its end the last
/// values can still be read.
///
/// Threads: value() under the runtime's lock, the list by anybody.
/// Units:   in the name: messages, bytes (of payload), seconds.

#include <cstdint>
#include <string>
#include <vector>

#include "mpi.h"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi::tool {

struct PerformanceVariable {
  std::string name;
  std::string help;
  int variable_class;  ///< MPI_T_PVAR_CLASS_*
  /// Nanoseconds for a timer, else the number itself.
  std::uint64_t (*value)(Runtime& runtime, std::size_t which);
  std::size_t which;  ///< tells variables with the same function apart

  /// MPI_DOUBLE in seconds for timers, as MPI_Wtime; else MPI_UNSIGNED_LONG_LONG.
  [[nodiscard]] MPI_Datatype type() const noexcept {
    return variable_class == MPI_T_PVAR_CLASS_TIMER ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG;
  }
};

/// All variables; the position in the list is the index of MPI_T.
[[nodiscard]] const std::vector<PerformanceVariable>& performance_variables();

}  // namespace starling::mpi::tool

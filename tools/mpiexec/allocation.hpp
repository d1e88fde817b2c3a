// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The nodes that a batch system has given to this script, of which mpiexec uses one. Layer: tools.
///
/// Threads: one. Errors: a variable or a file that is not understood counts as absent: this is advice only.

#include <cstdint>
#include <optional>
#include <string>

namespace starling::mpiexec {

struct Allocation {
  std::string system;       ///< "Slurm"
  std::string said_by;      ///< "SLURM_JOB_NUM_NODES=4"
  std::uint32_t nodes = 0;  ///< at least 2
  std::string instead;      ///< the command for all of them, up to the number of ranks
};

/// What the variables of Slurm, PBS, LSF, Grid Engine, OAR and Cobalt say. `get` reads a variable: null if
/// it is not set.
using Getenv = const char* (*)(const char* name);
[[nodiscard]] std::optional<Allocation> allocation_of_several_nodes(Getenv get);

/// The one line about it.
[[nodiscard]] std::string describe(const Allocation& allocation, std::uint32_t ranks,
                                   const std::string& host);

}  // namespace starling::mpiexec

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The nodes that a batch system has given to this script. Layer: tools.
///
/// Threads: one. Errors: a variable or a file that is not understood counts as absent.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frameworks/pmi/launchers.hpp"
#include "tools/mpiexec/hosts.hpp"

namespace starling::mpiexec {

struct Allocation {
  std::string system;                     ///< "Slurm"
  std::string said_by;                    ///< "SLURM_JOB_NUM_NODES=4"
  std::vector<Host> hosts;                ///< at least 2; nameless where only their number is known
  std::uint32_t ranks = 0;                ///< that were asked for with the nodes; 0: not said
  std::uint32_t processors_per_node = 0;  ///< the fewest; 0: not known
};

/// What the variables of Slurm, PBS, LSF, Grid Engine, OAR and Cobalt say, if it is more than one node.
/// Inside a step of Slurm the step's nodes count.
[[nodiscard]] std::optional<Allocation> allocation_of_several_nodes(const pmi::Getenv& get);

/// Whether srun has started this process: as a task, not as a batch script or an interactive shell.
[[nodiscard]] bool inside_step(const pmi::Getenv& get);

/// Set where this process is one of a job's ranks, or was started by one: by what that is known. Such a
/// mpiexec shares the nodes with others of its kind.
[[nodiscard]] std::optional<std::string> inside_a_rank(const pmi::Getenv& get);

/// Slurm's way of writing hosts, "n[0-2,07],m": each of them; empty if it cannot be understood.
[[nodiscard]] std::vector<std::string> expand_node_list(std::string_view text);

}  // namespace starling::mpiexec

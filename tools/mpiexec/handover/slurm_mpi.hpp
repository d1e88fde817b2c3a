// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which process manager srun shall serve the ranks by. Layer: tools.
///
/// Threads: one. Errors: none; srun that cannot be asked is told pmi2, which every Slurm has.

#include <string>
#include <string_view>

#include "tools/mpiexec/handover/engine.hpp"

namespace starling::mpiexec {

/// srun's --mpi: PMIx where ranks speak it and srun lists it, since it keeps the exit code of MPI_Abort and
/// ends the job when a rank dies; else pmi2. Empty where SLURM_MPI_TYPE has decided.
[[nodiscard]] std::string slurm_mpi(const std::string& srun, const Surroundings& surroundings);

/// Whether the list that `srun --mpi=list` prints has this word.
[[nodiscard]] bool lists(std::string_view text, std::string_view word);

}  // namespace starling::mpiexec

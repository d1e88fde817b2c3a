// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Error texts for collectives whose members disagree on length or operation, or were told by another
/// member that one has ended. Layer: mpi. MPI 5.0 section 6.1. docs/design/collectives.md
///
/// Threads: any.

#include <string>

#include "mpi/coll/execution.hpp"
#include "mpi/coll/node/call_signature.hpp"

namespace starling::mpi::coll {

/// "rank 0 sends 40 bytes, this rank expects 4; counts and types must match on all processes"
[[nodiscard]] std::string unequal_text(int rank, const Execution::Lengths& lengths);
/// As above, for a difference that a board has shown.
[[nodiscard]] std::string unequal_text(const node::Difference& difference);
/// Of a loss elsewhere that `rank` has told of.
[[nodiscard]] std::string told_text(int rank);

}  // namespace starling::mpi::coll

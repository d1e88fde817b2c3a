// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What users are told of a rank that is lost. Layer: mpi.
///
/// Threads: under the runtime's lock.

#include <string>

namespace starling::mpi {

class Comm;

/// "rank 3 has ended", "rank 3 cannot be reached any more: ..." of a rank of `comm` (of the remote group,
/// of an intercommunicator); MPI_ANY_SOURCE: of all others.
[[nodiscard]] std::string fate_text(const Comm& comm, int rank);

}  // namespace starling::mpi

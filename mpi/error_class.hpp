// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The one table from what goes wrong below to MPI's error classes. Layer: mpi. MPI 5.0 section 9.4.
///
/// docs/user-guide.md, "Errors of messages", has the part about messages for users.
/// Threads: any.

#include "core/result.hpp"
#include "frameworks/peer/fault.hpp"

namespace starling::mpi {

/// Of an Error of set-up: a communicator that cannot be made, a process manager that refuses.
[[nodiscard]] int error_class(Errc code) noexcept;
/// Of a message, whatever it belonged to. MPI_SUCCESS where nothing went wrong.
[[nodiscard]] int fault_class(peer::Fault fault) noexcept;

}  // namespace starling::mpi

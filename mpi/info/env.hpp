// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The keys of MPI_INFO_ENV: how this process was started. Layer: mpi. MPI 5.0 section 11.5.
///
/// Threads: any. Errors: what cannot be found out has no key.

#include "mpi/info/info.hpp"

namespace starling::mpi {

/// Adds "command", "argv", "host", "arch", "wdir". With argc 0 the arguments of the process are read from the
/// system.
void describe_environment(Info& info, int argc, char* const* argv);

}  // namespace starling::mpi

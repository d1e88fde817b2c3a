// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters and plugin index of this process, which exist before MPI does (MPI_T and starling-info
/// use them). Layer: mpi.
///
/// Threads:   environment() from any thread; it is built once.
/// Ownership: lives until the process ends.
/// Errors:    a file or value that does not parse; the same Error at every call.

#include <string>

#include "core/result.hpp"
#include "frameworks/select.hpp"
#include "params/registry.hpp"

namespace starling::mpi {

struct Environment {
  std::string prefix;
  params::Registry params;
  plugin::Index plugins;
};

[[nodiscard]] Result<Environment*> environment();

}  // namespace starling::mpi

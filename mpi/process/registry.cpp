// SPDX-License-Identifier: BSD-3-Clause
// The process-lifetime state of mpi/. Layer: mpi.

#include "mpi/process/registry.hpp"

#include <type_traits>

namespace starling::mpi {

constinit Registry the_registry;
static_assert(std::is_trivially_destructible_v<Registry>,
              "error handlers and info are used until the process ends");

}  // namespace starling::mpi

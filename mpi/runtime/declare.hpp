// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  All parameters that mpi/ declares, for the runtime, starling-info and tests. Layer: mpi.
///
/// Header only, so that a tool can list them without the runtime. Threads: as params::Registry.

#include "mpi/coll/params.hpp"
#include "mpi/runtime/params.hpp"
#include "params/registry.hpp"

namespace starling::mpi {

[[nodiscard]] inline Result<void> declare_params(params::Registry& registry) {
  if (auto added = registry.add("mpi", kRuntimeParams); !added) return added;
  return registry.add("coll", coll::kCollParams);
}

}  // namespace starling::mpi

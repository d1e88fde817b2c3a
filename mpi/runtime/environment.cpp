// SPDX-License-Identifier: BSD-3-Clause
// Parameters and plugins of this process, built once. Layer: mpi.

#include "mpi/runtime/environment.hpp"

#include <mutex>
#include <optional>

#include "core/log.hpp"
#include "core/plugin/prefix.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "frameworks/shm/params.hpp"
#include "mpi/runtime/declare.hpp"
#include "params/core_params.hpp"

namespace starling::mpi {
namespace {

Result<Environment*> build() {
  auto made = std::make_unique<Environment>();
  made->prefix = plugin::installation().prefix;
  params::Registry& registry = made->params;
  if (auto loaded = registry.load(params::Places::of_this_process(made->prefix)); !loaded) {
    return fail(std::move(loaded).error());
  }
  if (auto added = params::add_core(registry); !added) return fail(std::move(added).error());
  if (auto added = shm::register_params(registry); !added) return fail(std::move(added).error());
  if (auto added = registry.add("bootstrap", bootstrap::kParams); !added)
    return fail(std::move(added).error());
  if (auto added = declare_params(registry); !added) return fail(std::move(added).error());
  auto index = plugin::Index::scan(registry, made->prefix);
  if (!index) return fail(std::move(index).error());
  made->plugins = std::move(*index);
  return made.release();  // lives until the process ends: MPI_T may be asked after everything else is gone
}

}  // namespace

Result<Environment*> environment() {
  static std::mutex mutex;
  static std::optional<Result<Environment*>> built;
  const std::scoped_lock lock(mutex);
  if (!built) built = build();
  return *built;
}

}  // namespace starling::mpi

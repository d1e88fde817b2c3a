// SPDX-License-Identifier: BSD-3-Clause
// Ending the job. Layer: mpi. What is hard: a process may have to tell the process manager that it cannot
// start because of its parameters, from which the way to the process manager would be read.

#include "mpi/runtime/abort.hpp"

#include <unistd.h>

#include <atomic>
#include <memory>

#include "core/flush.hpp"
#include "core/log.hpp"
#include "core/plugin/prefix.hpp"
#include "params/core_params.hpp"
#include "params/registry.hpp"

namespace starling::mpi {
namespace {

std::atomic<pmi::Component*> kept{nullptr};

/// A connection by the parameters' defaults, whatever the user has set.
Result<pmi::Component*> connect_by_defaults() {
  // Neither is destroyed: the process ends.
  auto* const defaults = new params::Registry;
  if (auto added = params::add_core(*defaults); !added) return fail(std::move(added).error());
  auto index = plugin::Index::scan(*defaults, plugin::installation().prefix);
  if (!index) return fail(std::move(index).error());
  auto* const plugins = new plugin::Index(std::move(*index));
  auto made = plugins->create_first<pmi::Framework>({*defaults, true});
  if (!made) return fail(std::move(made).error());
  return made->release();
}

}  // namespace

void abort_job(pmi::Component* pmi, int exit_code, const std::string& why) noexcept {
  flush_streams();
  if (pmi == nullptr || !pmi->capabilities().tells_reason) log::error(why);
  if (pmi != nullptr) pmi->abort(exit_code, why);
  ::_exit(exit_code);
}

void abort_before_start(int exit_code, const std::string& why) noexcept {
  pmi::Component* pmi = kept.load();
  if (pmi == nullptr) {
    if (auto made = connect_by_defaults()) pmi = *made;
  }
  abort_job(pmi, exit_code, why);
}

void note_for_abort(pmi::Component* pmi) noexcept { kept = pmi; }

void end_stuck(int exit_code, const std::string& why) noexcept { abort_job(kept.load(), exit_code, why); }

void keep_for_abort(plugin::Index::Handle<pmi::Framework> pmi) noexcept {
  if (pmi != nullptr) kept = pmi.release();
}

}  // namespace starling::mpi

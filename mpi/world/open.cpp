// SPDX-License-Identifier: BSD-3-Clause
// Users of the runtime. Layer: mpi.

#include "mpi/world/open.hpp"

#include <cstdint>

#include "mpi.h"
#include "mpi/error.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/abort.hpp"
#include "mpi/runtime/environment.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/world/report.hpp"

namespace starling::mpi {
namespace {

std::uint32_t users = 0;  // sessions and the world that are open; guarded by the runtime's lock

void end_job(HandleBits, int code, const std::string& why) {
  Runtime* const runtime = Runtime::get();
  if (runtime == nullptr) abort_before_start(code, why);
  runtime->abort(code, why);
}

params::Registry* parameters() {
  auto environment = mpi::environment();
  return environment ? &(*environment)->params : nullptr;
}

}  // namespace

void set_predefined_attributes(Runtime& runtime) {
  PredefinedAttributes& attributes = registry().attributes;
  const pmi::Identity& identity = runtime.pmi().identity();
  if (identity.appnum) attributes.appnum = static_cast<int>(*identity.appnum);
  attributes.universe_size =
      static_cast<int>(identity.universe_size != 0 ? identity.universe_size : identity.size);
  // One node, one monotonic clock.
  attributes.wtime_is_global = runtime.place().node_ranks().size() == runtime.place().world_size() ? 1 : 0;
}

int open_runtime(int thread_level) {
  registry().hooks.end_job = &end_job;
  registry().hooks.params = &parameters;
  auto runtime = Runtime::ensure();
  if (!runtime) return error(runtime.error());
  if (thread_level == MPI_THREAD_MULTIPLE) {
    registry().multiple.store(true, std::memory_order_relaxed);
    registry().lock.enable();
  }
  if (users == 0) {
    if (auto started = (*runtime)->background().open(); !started) return error(started.error());
  }
  if (users++ == 0) {
    (*runtime)->set_idle(false);
    set_predefined_attributes(**runtime);
  }
  registry().active.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}

namespace {

void leave() {
  if (--users != 0) return;
  Runtime::get()->receive_buffers().report_kept();
  print_startup_report_of_sessions();
  Runtime::get()->background().close();
  registry().active.store(false, std::memory_order_release);
  Runtime::get()->set_idle(true);
}

}  // namespace

void close_runtime() {
  Runtime::get()->drain("the end of MPI");
  leave();
}

void give_up_runtime() {
  constexpr std::uint64_t kLastWordsNs = 1'000'000'000;
  Runtime& runtime = *Runtime::get();
  (void)runtime.waits().wait_for_others(
      [&] { return runtime.peers().drained(); }, Deadline::after_ns(kLastWordsNs),
      [] { return std::string("a failed start: waits until what was sent has left"); });
  leave();
}

}  // namespace starling::mpi

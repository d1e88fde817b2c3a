// SPDX-License-Identifier: BSD-3-Clause
// Users of the runtime, and process sets. Layer: mpi.

#include "mpi/session/session.hpp"

#include <strings.h>

#include <array>

#include "mpi.h"
#include "mpi/api/registry.hpp"
#include "mpi/error.hpp"
#include "mpi/runtime/abort.hpp"
#include "mpi/runtime/environment.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/session/report.hpp"

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

void set_predefined_attributes(Runtime& runtime) {
  PredefinedAttributes& attributes = registry().attributes;
  const pmi::Identity& identity = runtime.pmi().identity();
  if (identity.appnum) attributes.appnum = static_cast<int>(*identity.appnum);
  attributes.universe_size =
      static_cast<int>(identity.universe_size != 0 ? identity.universe_size : identity.size);
  // One node, one monotonic clock.
  attributes.wtime_is_global = runtime.node_ranks().size() == runtime.world_size() ? 1 : 0;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

constexpr std::array<std::string_view, 3> kProcessSets = {"mpi://WORLD", "mpi://SELF", "mpix://NODE"};

}  // namespace

int open_runtime(int thread_level) {
  registry().hooks.end_job = &end_job;
  registry().hooks.params = &parameters;
  auto runtime = Runtime::ensure();
  if (!runtime) return error(runtime.error());
  if (thread_level == MPI_THREAD_MULTIPLE) registry().lock.enable();
  if (users++ == 0) {
    (*runtime)->set_idle(false);
    set_predefined_attributes(**runtime);
  }
  registry().active.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}

void close_runtime() {
  Runtime::get()->drain("the end of MPI");
  if (--users != 0) return;
  print_startup_report_of_sessions();
  registry().active.store(false, std::memory_order_release);
  Runtime::get()->set_idle(true);
}

std::vector<std::string> process_sets() { return {kProcessSets.begin(), kProcessSets.end()}; }

Ref<Group> group_of_process_set(std::string_view name) {
  Runtime& runtime = *Runtime::get();
  ProcListPtr members;
  if (same_name(name, kProcessSets[0])) {
    members = make_strided(ProcId{0, 0}, 1, runtime.world_size());
  } else if (same_name(name, kProcessSets[1])) {
    members = make_strided(runtime.self(), 1, 1);
  } else if (same_name(name, kProcessSets[2])) {
    std::vector<ProcId> procs;
    for (const std::uint32_t rank : runtime.node_ranks()) procs.push_back(ProcId{0, rank});
    members = make_list(std::move(procs));
  } else {
    return {};
  }
  return Ref<Group>::adopt(new Group(std::move(members)));
}

}  // namespace starling::mpi

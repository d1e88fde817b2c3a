// SPDX-License-Identifier: BSD-3-Clause
// Waiting for what cannot come any more. Layer: mpi.

#include "mpi/request/hopeless.hpp"

#include "mpi/comm/comm.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// Another thread of this process may still send to it.
bool own_threads_can_send(const Comm& comm, Rank source) noexcept {
  return source == pml::kAnySource && !comm.inter() && registry().multiple.load(std::memory_order_relaxed);
}

}  // namespace

bool nobody_can_send(const Comm& comm, int source) noexcept {
  const pml::Fault why = Runtime::get()->pml().lost(comm.context(), Rank{source});
  if (why == pml::Fault::peer_left) return !own_threads_can_send(comm, Rank{source});
  return why != pml::Fault::none;
}

bool hopeless(const pml::Request& receive, const Comm& comm) noexcept {
  return Runtime::get()->pml().hopeless(receive) && !own_threads_can_send(comm, receive.rank);
}

void wait_long_for(const char* function, pml::Request& request, const Comm& comm) {
  Runtime& runtime = *Runtime::get();
  runtime.waits().watch_long(function, [&] {
    if (request.complete.load(std::memory_order_acquire)) return true;
    if (!hopeless(request, comm)) return false;
    runtime.pml().give_up(request);
    return true;
  });
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// The world model: a session and two communicators made the same way as any other. Layer: mpi. MPI 5.0
// section 11.2.

#include <pthread.h>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "mpi.h"
#include "mpi/creation/exchange.hpp"
#include "mpi/creation/factory.hpp"
#include "mpi/error.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/session/session.hpp"
#include "mpi/world/open.hpp"
#include "mpi/world/process_sets.hpp"
#include "mpi/world/report.hpp"
#include "mpi/world/world.hpp"

namespace starling::mpi {
namespace {

constexpr HandleBits kWorld = 0x101, kSelf = 0x102;
constexpr const char* kWorldTag = "org.starling.world";

/// Turns a made communicator into a predefined one.
void define(HandleBits constant, Comm& comm, const char* name) {
  tables().comm.remove(comm.handle());
  tables().comm.define(constant, &comm);
  comm.name = name;
}

void undefine(HandleBits constant) {
  Comm* const comm = tables().comm.find(constant);
  tables().comm.define(constant, nullptr);
  comm->drop();
}

Ref<Errhandler> initial_errhandler() {
  return Ref<Errhandler>::share(tables().errhandler.find(registry().initial_errhandler.load()));
}

int make_communicators() {
  const Made self = CommFactory::self({});
  if (self.comm == nullptr) return self.error_class;
  define(kSelf, *self.comm, "MPI_COMM_SELF");
  self.comm->errhandler = initial_errhandler();
  const Made made = CommFactory::from_group(group_of_process_set("mpi://WORLD"), kWorldTag, {});
  if (made.comm == nullptr) {
    undefine(kSelf);
    return made.error_class;
  }
  define(kWorld, *made.comm, "MPI_COMM_WORLD");
  made.comm->errhandler = initial_errhandler();
  return MPI_SUCCESS;
}

/// The fence of the world at the end. A process may come as late as it likes; who waits says so after a time.
int meet_last(Runtime& runtime, Comm& world) {
  const auto seconds = static_cast<std::uint64_t>(runtime.params().integer(bootstrap::kTimeout));
  Deadline notice = Deadline::after_seconds(seconds);
  const auto say = [&] {
    if (notice.passed()) {
      notice = Deadline{};
      log::warning(std::string(names::Finalize) + " has waited " + std::to_string(seconds) +
                   " s (parameter bootstrap_timeout) for all processes of the job to come there (parameter "
                   "finalize_barrier), and goes on waiting");
    }
    return false;
  };
  auto met = runtime.fences().meet_last(say);
  if (met) return MPI_SUCCESS;
  // Some process managers let nobody come back who has taken leave of them, and a session that ended before
  // MPI_Init has done that.
  return met.error().code == Errc::peer_lost ? barrier(world) : error(met.error());
}

}  // namespace

void World::handler_chosen(HandleBits comm) noexcept {
  if (comm == kSelf) chosen_.store(Chosen::of_self, std::memory_order_relaxed);
  Chosen neither = Chosen::neither;
  if (comm == kWorld) chosen_.compare_exchange_strong(neither, Chosen::of_world, std::memory_order_relaxed);
}

HandleBits World::raises_errors_without_object() const noexcept {
  return chosen_.load(std::memory_order_relaxed) == Chosen::of_world ? kWorld : kSelf;
}

World& world() noexcept {
  static constinit World state;
  return state;
}

int start_world(int required, int* provided) {
  World& state = world();
  if (state.initialised) return error(MPI_ERR_OTHER, "MPI has been initialised already; it can be done once");
  if (const int rc = open_runtime(required); rc != MPI_SUCCESS) return rc;
  Runtime& runtime = *Runtime::get();
  auto placed = runtime.seating().know();  // everybody comes here, and MPI_COMM_SELF may need what it finds
  set_predefined_attributes(runtime);
  if (const int rc = placed ? make_communicators() : error(placed.error()); rc != MPI_SUCCESS) {
    give_up_runtime();
    return rc;
  }
  state.main_thread = ::pthread_self();
  state.thread_level = required;
  state.initialised = true;
  if (provided != nullptr) *provided = required;
  if (runtime.params().boolean(kStartupReport)) print_startup_report();
  return MPI_SUCCESS;
}

int stop_world() {
  World& state = world();
  if (!state.initialised) return error(MPI_ERR_OTHER, "MPI_Init has not been called");
  if (state.finalized) return error(MPI_ERR_OTHER, "MPI_Finalize has been called already");
  Comm& self = *tables().comm.find(kSelf);
  Comm& comm = *tables().comm.find(kWorld);
  // Section 11.2.4: the attributes of MPI_COMM_SELF go first, newest first, while MPI still works.
  if (const int rc = self.attributes.clear(kSelf); rc != MPI_SUCCESS) return rc;
  if (const int rc = comm.attributes.clear(kWorld); rc != MPI_SUCCESS) return rc;
  Runtime& runtime = *Runtime::get();
  runtime.drain("the end of MPI");
  if (runtime.params().boolean(kReport)) {
    print_traffic_report();
    runtime.drain("the end of MPI");
  }
  // After the last message, and not by messages: the last ones of a barrier could be lost as well. It goes on
  // delivering meanwhile, so that nothing lies unread when the connections close.
  if (runtime.builder().plan_for(*comm.group()->members()).finalize_barrier) {
    if (const int rc = meet_last(runtime, comm); rc != MPI_SUCCESS) return rc;
    runtime.drain("the end of MPI");
  }
  undefine(kWorld);
  undefine(kSelf);
  state.finalized = true;
  close_runtime();
  return MPI_SUCCESS;
}

}  // namespace starling::mpi

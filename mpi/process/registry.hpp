// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What lives as long as the process: lock, state, hooks. Layer: mpi.
///
/// MPI_Info, error handlers, sessions and MPI_T work before any initialisation and after every finalisation,
/// so this is the one global object of mpi/, beside the handle tables. It is constant-initialised (no static
/// constructor) and never destroyed.
///
/// Threads:   each member says its own; `hooks` is set under the lock.
/// Ownership: nothing is owned here. The handle tables (mpi/handles.hpp) live as long as this.

#include <atomic>
#include <string>
#include <string_view>

#include "mpi/handles.hpp"
#include "mpi/process/lock.hpp"

namespace starling::params {
class Registry;
}

namespace starling::mpi {

/// Functions of the runtime for code that is also used without a runtime. Null: there is none yet.
struct Hooks {
  /// Ends the processes of `comm` (a handle; 0: all of this job), and tells the user why. Does not return.
  void (*end_job)(HandleBits comm, int code, const std::string& why) = nullptr;
  /// All parameters, loaded; for MPI_T control variables. Callable before init.
  params::Registry* (*params)() = nullptr;
};

/// Values of the predefined communicator attributes (MPI 5.0 section 9.1.2); the runtime sets them at init.
struct PredefinedAttributes {
  int tag_ub = 0x7fffffff;
  int host = MPI_PROC_NULL;
  int io = MPI_ANY_SOURCE;
  int wtime_is_global = 0;
  int universe_size = 0;  ///< 0: not known, the attribute is not set
  int appnum = -1;        ///< -1: not known
  int last_used_code = MPI_ERR_LASTCODE;
};

struct Registry {
  BigLock lock;
  /// MPI may be used: a session or the world model is initialised. Set and cleared by the runtime.
  std::atomic<bool> active{false};
  /// Several threads of the program may call MPI at once, since MPI_THREAD_MULTIPLE was asked for. The lock
  /// can be enabled without this: a progress thread needs it, too.
  std::atomic<bool> multiple{false};
  /// A session has ever been made, so objects may belong to different sessions (mpi/comm/isolation.hpp).
  std::atomic<bool> sessions_used{false};
  /// Handler of errors that belong to no object while there is no MPI_COMM_SELF: the initial one (info key
  /// mpi_initial_errhandler).
  std::atomic<HandleBits> initial_errhandler{0x141};  // MPI_ERRORS_ARE_FATAL
  Hooks hooks;
  PredefinedAttributes attributes;

  /// Whether other threads of the program may want the lock that this one holds.
  [[nodiscard]] bool lock_is_wanted() const noexcept {
    return multiple.load(std::memory_order_relaxed) && !lock.mine_alone();
  }
};

extern constinit Registry the_registry;
[[nodiscard]] inline Registry& registry() noexcept { return the_registry; }

}  // namespace starling::mpi

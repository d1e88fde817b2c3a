// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The running library: components, progress, waiting. Layer: mpi. See docs/design/startup.md.
///
/// Built by the first MPI_Init or MPI_Session_init, purely locally: no fence, nothing of the size of the job.
/// It stays until the process exits, so that worlds and sessions can come and go any number of times.
///
/// Threads:   everything is called under the runtime's lock (lock.hpp); waiting releases it.
/// Ownership: owns the components. Get one with Runtime::get() after ensure() succeeded.
/// Errors:    set-up returns Result. When the job is being ended from outside, waiting does not return: the
///            process exits.
/// Units:     nanoseconds in names.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "frameworks/pml/pml.hpp"
#include "frameworks/select.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/allocated_memory.hpp"
#include "mpi/runtime/background_progress.hpp"
#include "mpi/runtime/builder.hpp"
#include "mpi/runtime/control_channel.hpp"
#include "mpi/runtime/environment.hpp"
#include "mpi/runtime/phases.hpp"
#include "mpi/runtime/place.hpp"
#include "mpi/runtime/process_manager.hpp"
#include "mpi/runtime/progress_thread.hpp"
#include "mpi/runtime/receive_buffers.hpp"
#include "mpi/runtime/seating.hpp"
#include "mpi/runtime/transports.hpp"
#include "mpi/runtime/waits.hpp"

namespace starling::mpi {

class Runtime final {
 public:
  /// The runtime, built at the first call. The same Error at every later call if that failed.
  [[nodiscard]] static Result<Runtime*> ensure();
  /// Null before ensure() succeeded.
  [[nodiscard]] static Runtime* get() noexcept { return instance_; }

  [[nodiscard]] pml::Component& pml() noexcept { return *pml_; }
  [[nodiscard]] peer::Peers& peers() noexcept { return waits_.polling().peers(); }
  [[nodiscard]] bootstrap::Component& bootstrap() noexcept { return builder_.bootstrap(); }
  [[nodiscard]] pmi::Component& pmi() noexcept { return pmi_; }
  [[nodiscard]] const params::Registry& params() const noexcept { return environment_.params; }
  [[nodiscard]] Environment& environment() noexcept { return environment_; }

  /// Where this process is.
  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] ProcId self() const noexcept { return place_.self(); }
  /// Waiting for something; sleeping and hang help belong to it.
  [[nodiscard]] Waits& waits() noexcept { return waits_; }
  /// Passes of progress, without waiting.
  [[nodiscard]] Polling& polling() noexcept { return waits_.polling(); }
  /// Which transports run.
  [[nodiscard]] const Transports& transports() const noexcept { return transports_; }
  /// How this process came to its place.
  [[nodiscard]] Seating& seating() noexcept { return seating_; }
  /// Making communicators from groups.
  [[nodiscard]] Builder& builder() noexcept { return builder_; }
  [[nodiscard]] const ControlChannel& control_channel() const noexcept { return control_channel_; }
  /// Fences of the process manager.
  [[nodiscard]] Fences& fences() noexcept { return control_channel_.fences(); }
  /// Progress while the program computes.
  [[nodiscard]] BackgroundProgress& background() noexcept { return background_; }
  [[nodiscard]] const BackgroundProgress& background() const noexcept { return background_; }
  /// What MPI_Alloc_mem has given.
  [[nodiscard]] AllocatedMemory& allocated_memory() noexcept { return allocated_memory_; }
  /// Buffers of receives that the library provides.
  [[nodiscard]] ReceiveBuffers& receive_buffers() noexcept { return receive_buffers_; }
  [[nodiscard]] const std::vector<Phase>& phases() const noexcept { return phases_.all(); }

  /// Waits until everything that was sent has left this process; after 10 s says what it waits for, and goes
  /// on waiting. `call` is what hang help names: "the end of MPI".
  void drain(const char* call);
  /// Marks this process as properly finalized (its exit is no failure from here on) or in use again.
  void set_idle(bool idle) noexcept;
  /// Ends the whole job; `message` is shown to the user, by the process manager or here. Does not return.
  [[noreturn]] void abort(int exit_code, const std::string& message) noexcept;

 private:
  Runtime(Environment& environment, plugin::Index::Handle<pmi::Framework> pmi) noexcept;
  [[nodiscard]] static Result<std::unique_ptr<Runtime>> build();
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> check_parameters();
  [[nodiscard]] Result<void> create_transports();
  static void at_exit() noexcept;
  static void at_quick_exit() noexcept;
  void close() noexcept;

  static Runtime* instance_;

  // First, so that a wait's loop takes this object's address for that of the peers.
  Waits waits_;
  Environment& environment_;
  int pid_ = 0;
  Phases phases_;
  // Destroyed in reverse if the start fails; at the end of the process close() does it, in that order.
  WaitsForTurn turns_{waits_};
  ProcessManager pmi_;
  ProgressThread progress_thread_{registry().lock};
  Place place_;
  AllocatedMemory allocated_memory_;
  ReceiveBuffers receive_buffers_;
  plugin::Index::Handle<pml::Framework> pml_;
  Transports transports_;
  ControlChannel control_channel_;
  BackgroundProgress background_;
  Seating seating_;
  Builder builder_;
};

}  // namespace starling::mpi

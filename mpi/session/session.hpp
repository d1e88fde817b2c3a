// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Sessions, process sets and the world model on top of them. Layer: mpi. MPI 5.0 sections 11.2, 11.3.
///
/// MPI_Init is a session and two communicators made like any other. Sessions and worlds come and go in any
/// order and number (the world once, as the standard has it); the runtime below stays.
///
/// Threads:   start and stop by any thread, one at a time (they hold the runtime's lock always).
/// Errors:    MPI error classes (mpi/error.hpp).

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/errhandler/errhandler.hpp"
#include "mpi/group/group.hpp"
#include "mpi/handle.hpp"
#include "mpi/info/info.hpp"

namespace starling::mpi {

class BsendBuffer;  // mpi/request/buffered.hpp

class Session final : public Object {
 public:
  explicit Session(int thread_level_given) noexcept : thread_level(thread_level_given) {}
  Ref<Errhandler> errhandler;
  Ref<Info> info;                             ///< hints that were given and are used: "thread_level"
  int thread_level;                           ///< MPI_THREAD_*, what it may do
  std::shared_ptr<BsendBuffer> bsend_buffer;  ///< or null: none was ever attached
};

/// Opens the runtime for one more user (a session or the world): builds it if need be.
[[nodiscard]] int open_runtime(int thread_level);
/// One user less; with the last one gone everything sent has left and this process counts as finalized.
void close_runtime();

/// The process sets that every session has, in the order of MPI_Session_get_nth_pset.
[[nodiscard]] std::vector<std::string> process_sets();
/// The members of a process set, or empty for an unknown name. "mpi://world" in any case of letters
/// (section 11.3.2).
[[nodiscard]] Ref<Group> group_of_process_set(std::string_view name);

/// The predefined communicators whose error handler the program has chosen, the one that counts more last.
enum class Chosen : std::uint8_t { neither, of_world, of_self };

/// The world model (MPI_Init .. MPI_Finalize).
struct World {
  /// To be told of MPI_Comm_set_errhandler.
  void handler_chosen(HandleBits comm) noexcept;
  /// The communicator on which errors without an object are raised (a NULL argument, a wrong datatype or
  /// group, no valid communicator). MPI 5.0 section 9.3 says MPI_COMM_SELF; MPI-1 to MPI-3 said
  /// MPI_COMM_WORLD, and many programs set a handler for that one only. Theirs would not be asked about such
  /// errors, and MPI_ERRORS_ARE_FATAL of MPI_COMM_SELF, which they never heard of, would end them. So
  /// MPI_COMM_WORLD serves as long as only its handler was chosen. Any thread.
  [[nodiscard]] HandleBits raises_errors_without_object() const noexcept;

  bool initialised = false;
  bool finalized = false;
  int thread_level = 0;
  pthread_t main_thread = 0;

 private:
  std::atomic<Chosen> chosen_{Chosen::neither};
};
[[nodiscard]] World& world() noexcept;
[[nodiscard]] int start_world(int required, int* provided);
[[nodiscard]] int stop_world();

/// Prints the startup plan, phases and counters on rank 0 of MPI_COMM_WORLD (parameter startup_report).
/// Collective over the world.
void print_startup_report();
/// Prints on rank 0 of MPI_COMM_WORLD what the processes have sent until now, by which transport and
/// protocol, and what kept them from better ones (parameter report). Collective over the world.
void print_traffic_report();

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The world model on top of sessions. Layer: mpi. MPI 5.0 section 11.2.
///
/// MPI_Init is a session and two communicators made like any other.
///
/// Threads:   start and stop by any thread, one at a time (they hold the runtime's lock always).
/// Errors:    MPI error classes (mpi/error.hpp).

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "mpi/handle.hpp"

namespace starling::mpi {

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

}  // namespace starling::mpi

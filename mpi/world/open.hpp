// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The runtime's users, who open and close it: sessions and the world. Layer: mpi. MPI 5.0 sections
/// 11.2, 11.3.
///
/// Sessions and worlds come and go in any order and number (the world once, as the standard has it); the
/// runtime below stays.
///
/// Threads: start and stop by any thread, one at a time (they hold the runtime's lock always).
/// Errors:  MPI error classes (mpi/error.hpp).

namespace starling::mpi {

class Runtime;

/// Opens the runtime for one more user: builds it if need be.
[[nodiscard]] int open_runtime(int thread_level);
/// One user less. After the last one has gone, everything sent has left and this process counts as finalized.
void close_runtime();
/// As close_runtime(), after a failure of which the user must hear: what cannot leave within a second stays.
void give_up_runtime();

/// What the launcher has told, as attributes of MPI_COMM_WORLD. Again once the place of this process is
/// known.
void set_predefined_attributes(Runtime& runtime);

}  // namespace starling::mpi

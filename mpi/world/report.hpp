// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the library tells about itself when a job starts and ends. Layer: mpi.
///
/// Threads: under the runtime's lock.

namespace starling::mpi {

/// Prints the startup plan, phases and counters on rank 0 of MPI_COMM_WORLD (parameter startup_report).
/// Collective over the world.
void print_startup_report();
/// The report of a program that opens sessions only; to be called when the last session or the world has
/// ended. It tells of rank 0 of the launched processes alone: without MPI_Init there is no moment at which
/// all are together. Prints once, and is local. Prints nothing where MPI_Init was called.
void print_startup_report_of_sessions();
/// Prints on rank 0 of MPI_COMM_WORLD what the processes have sent until now, by which transport and
/// protocol, and what kept them from better ones (parameter report). Collective over the world.
void print_traffic_report();

}  // namespace starling::mpi

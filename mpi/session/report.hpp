// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The startup report of a program that opens sessions only. Layer: mpi.
///
/// Threads: under the runtime's lock.

namespace starling::mpi {

/// To be called when the last session or the world has ended. Prints what print_startup_report() prints
/// (parameter startup_report), of rank 0 of the launched processes alone: without MPI_Init there is no moment
/// at which all are together. Once, and local. Nothing where MPI_Init was called.
void print_startup_report_of_sessions();

}  // namespace starling::mpi

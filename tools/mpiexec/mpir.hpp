// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The MPIR process table: how parallel debuggers find the ranks of a job. Layer: tools.
///
/// A debugger that starts or attaches to mpiexec sets MPIR_being_debugged, breaks at MPIR_Breakpoint and
/// reads MPIR_proctable. The names are the MPIR interface's, not ours. Threads: one.

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace starling::mpiexec {

void mpir_prepare(std::uint32_t size);
void mpir_add(std::uint32_t rank, const std::string& host, const std::string& program, pid_t pid);
/// All ranks run: tells a debugger that is there.
void mpir_spawned();

}  // namespace starling::mpiexec

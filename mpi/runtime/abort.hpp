// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Ending the whole job from one process, also from one whose runtime could not be built. Layer: mpi.
///
/// Threads: any; what the program has printed is written first. Errors: none of these functions returns.

#include <string>

#include "frameworks/pmi/pmi.hpp"
#include "frameworks/select.hpp"

namespace starling::mpi {

/// Ends the job through this connection (null: this process alone). `why` is shown to the user once: by a
/// process manager that does so, else on standard error.
[[noreturn]] void abort_job(pmi::Component* pmi, int exit_code, const std::string& why) noexcept;

/// As abort_job(), before there is a runtime: through what keep_for_abort() was given, or else a connection
/// that is made now. Without it the other processes of the job would wait for this one until their time-out.
[[noreturn]] void abort_before_start(int exit_code, const std::string& why) noexcept;

/// The connection of the runtime, for end_stuck(). It outlives the process's last plugin.
void note_for_abort(pmi::Component* pmi) noexcept;
/// plugin::EndStuck: through the noted connection, which no thread uses while another plugin is stuck.
void end_stuck(int exit_code, const std::string& why) noexcept;

/// Keeps the connection of a runtime that could not be built, to the end of the process. Null: there is none.
void keep_for_abort(plugin::Index::Handle<pmi::Framework> pmi) noexcept;

}  // namespace starling::mpi

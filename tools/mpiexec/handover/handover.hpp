// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Jobs for several hosts: whether this is one, and who runs it. Layer: tools. See
/// docs/process-managers.md.
///
/// mpiexec has no launcher of its own for other hosts. It hands the job over to one that is there, with
/// everything that the command line asked for.
///
/// Threads: one. Errors: not_found names packages, bad_parameter the option.

#include <optional>
#include <string>

#include "core/result.hpp"
#include "tools/mpiexec/allocation.hpp"
#include "tools/mpiexec/handover/engine.hpp"
#include "tools/mpiexec/options.hpp"

namespace starling::mpiexec {

/// Where a job runs.
struct Whereabouts {
  bool here = true;
  std::string note;                 ///< one line for people; empty: nothing to say
  std::optional<Allocation> nodes;  ///< the allocation to use, where no hosts are named
  std::vector<Host> hosts;          ///< that are named
  LauncherChoice choice;
};
/// Another host that is named, or an allocation of several nodes, leads away from here. -launcher decides by
/// hand; one rank, and a mpiexec that a rank of another job has started, stay.
[[nodiscard]] Result<Whereabouts> whereabouts(const Options& options, const pmi::Getenv& get);

/// Runs the job; gives its exit code.
[[nodiscard]] Result<int> hand_over(const Options& options, const Whereabouts& where,
                                    const Surroundings& surroundings, const std::string& job);

}  // namespace starling::mpiexec

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Starting one process: group, parent-death signal, limits, descriptors, binding, exec. Layer: tools.
///
/// vfork instead of posix_spawn: the latter can neither set a parent-death signal nor limits, and fork copies
/// page tables once per rank.
///
/// Threads:   one; signals that mpiexec handles must be blocked.
/// Errors:    not_found, denied or system, naming the program and the step that failed; the child is reaped
///            then.

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "core/result.hpp"

namespace starling::mpiexec {

struct SpawnRequest {
  const char* path = nullptr;  ///< of the executable, resolved
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* wdir = nullptr;   ///< null: stay
  int stdio[3] = {-1, -1, -1};  ///< -1: inherit
  struct Kept {
    int from = -1;  ///< -1: none
    int to = -1;
  } kept[3];  ///< further descriptors of the child, under these numbers
  bool own_group = true;
  int death_signal = SIGKILL;           ///< what the child gets when mpiexec dies
  const rlimit* descriptors = nullptr;  ///< RLIMIT_NOFILE of the child
  const sigset_t* signal_mask = nullptr;
  const cpu_set_t* processors = nullptr;
};

[[nodiscard]] Result<pid_t> spawn(const SpawnRequest& request);

/// Finds a program as a shell would: along PATH unless it has a slash. Says whether it is missing or not
/// executable. `wdir` is where a relative path counts from.
[[nodiscard]] Result<std::string> find_program(const std::string& name, const std::string& search_path,
                                               const std::string& wdir);

}  // namespace starling::mpiexec

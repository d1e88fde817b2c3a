// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Running an engine as mpiexec's only child: signals, the time limit, the exit code. Layer: tools.
///
/// The engine inherits standard input, output and the terminal. It gets a SIGTERM when mpiexec dies: each
/// engine ends its job then, on all hosts.
///
/// Threads:   one. Ownership: the engine is waited for; after a failure what it left on this machine is
/// killed.
/// Errors:    what stops it from starting; afterwards the exit code.

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::mpiexec {

struct EngineRun {
  std::string path;
  std::string_view name;           ///< for messages
  std::vector<std::string> words;  ///< behind the program's name
  char* const* environment = nullptr;
  std::optional<std::uint32_t> timeout_s;
};

/// The engine's exit code; 128 + signal if a signal to mpiexec ended the job or one ended the engine; 124
/// after the time limit.
[[nodiscard]] Result<int> supervise(const EngineRun& run);

}  // namespace starling::mpiexec

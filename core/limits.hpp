// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Limits of this process (`ulimit`) that stand in the way of shared memory. Layer: core.
///
/// Threads: any; a limit is raised for a moment for all threads of the process.
/// Errors:  name the limit, what it is, and what was needed. Units: bytes.

#include <cstdint>
#include <string>

#include "core/result.hpp"

namespace starling {

/// Gives a file its size. Above the limit of file sizes (`ulimit -f`, also for memory without a name) the
/// kernel would end the process by SIGXFSZ: the soft limit is raised for the call, the hard one is an Error.
[[nodiscard]] Result<void> set_file_size(int fd, std::uint64_t bytes);

/// What to add where a mapping of `bytes` (0: unknown) failed for want of memory: that the
/// address space is limited (`ulimit -v`), to what, and how much of it is used. Empty if it is not.
[[nodiscard]] std::string address_space_note(std::uint64_t bytes);

}  // namespace starling

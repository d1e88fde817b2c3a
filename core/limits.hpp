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

/// Gives a file its size. Beyond the limit of file sizes (`ulimit -f`, which holds for memory without a name,
/// too) the kernel would end the process by SIGXFSZ. So the soft limit is raised during the call; a size
/// beyond the hard limit is an Error.
[[nodiscard]] Result<void> set_file_size(int fd, std::uint64_t bytes);

/// A note for the error of a mapping of `bytes` (0: unknown) that failed for want of memory: how far the
/// address space is limited (`ulimit -v`), and how much of it is used. Empty if it is not limited.
[[nodiscard]] std::string address_space_note(std::uint64_t bytes);

}  // namespace starling

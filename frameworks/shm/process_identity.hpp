// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Facts that tell one process from every other one, also after its pid was used again. Layer:
/// framework.
///
/// Threads: any. Errors: 0 where /proc does not say.

#include <cstdint>

namespace starling::shm {

/// Field 22 of /proc/<pid>/stat: clock ticks since boot; 0 if there is no such process (or it is a zombie).
[[nodiscard]] std::uint64_t start_time_of(std::uint32_t pid) noexcept;

/// The inode of this process's pid namespace; pids of two processes compare only if it is the same. 0:
/// unknown.
[[nodiscard]] std::uint64_t pid_namespace() noexcept;

}  // namespace starling::shm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Reading and writing another process's memory through the kernel. Layer: plugin.
///
/// Threads: any. Errors: errno; EPERM and ESRCH are usual in containers and with several pid namespaces.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace starling::btl {

/// Copies [address, address + to.size()) of process `pid`. 0, or errno; then `to` may be partly written.
[[nodiscard]] int read_process(pid_t pid, std::uint64_t address, std::span<std::byte> to) noexcept;

/// The other direction. 0, or errno; then it may have been partly written.
[[nodiscard]] int write_process(pid_t pid, std::uint64_t address, std::span<const std::byte> from) noexcept;

}  // namespace starling::btl

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Reading another process's memory through the kernel. Layer: plugin.
///
/// Threads: any. Errors: errno; EPERM and ESRCH are usual in containers and with several pid namespaces.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace starling::btl {

/// Copies [address, address + to.size()) of process `pid`. 0, or errno; then `to` may be partly written.
[[nodiscard]] int read_process(pid_t pid, std::uint64_t address, std::span<std::byte> to) noexcept;

}  // namespace starling::btl

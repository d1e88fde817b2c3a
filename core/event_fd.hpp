// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Descriptors by which one thread wakes another. Layer: core.
///
/// Threads: any. Ownership: the caller's. Errors: system, with what was refused. Units: none.

#include "core/result.hpp"
#include "core/unique_fd.hpp"

namespace starling {

/// An eventfd that is not inherited, with these flags in addition. It has been written once and read again:
/// where write() is refused (a seccomp filter) nobody could be woken, and a thread that sleeps would not end.
[[nodiscard]] Result<UniqueFd> make_event_fd(int flags);

}  // namespace starling

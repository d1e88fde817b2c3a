// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A thread of the library's own inside the user's program. Layer: core.
///
/// It takes no signals: these are for the application's threads.
/// Threads: any. Ownership: the caller joins what it gets. Errors: Errc::system where no thread can be made.

#include <functional>
#include <thread>

#include "core/result.hpp"

namespace starling {

/// `name` is for people (ps, gdb): at most 15 characters. `body` must not throw.
[[nodiscard]] Result<std::thread> start_service_thread(const char* name, std::function<void()> body);

}  // namespace starling

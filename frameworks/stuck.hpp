// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How a process ends whose plugin is stuck in its start (start_watch.hpp). Layer: framework.
///
/// Threads: set once, before plugins are made; called by a watch's thread.

#include <string>

namespace starling::plugin {

/// Ends the process so that the others of the job hear of it. Does not return.
using EndStuck = void (*)(int exit_code, const std::string& why) noexcept;
/// Without one, or with null, the process says why and ends alone.
void set_end_of_stuck(EndStuck end) noexcept;

}  // namespace starling::plugin

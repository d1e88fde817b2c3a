// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How the file of a node's segment is called where it has a name (shm/posix). Layer: framework.
///
/// The plugin gives the name; whoever starts a job takes it away when processes were killed that would have.
///
/// Threads: functions of their arguments.

#include <cstdint>
#include <string>
#include <string_view>

namespace starling::shm {

/// The parameter that holds the directory.
inline constexpr std::string_view kSegmentDirectoryParam = "shm_posix_directory";

/// What all names of this user begin with.
[[nodiscard]] std::string segment_name_prefix();
/// The name for one node of one job, without its directory.
[[nodiscard]] std::string segment_name(std::string_view job, std::uint32_t node);

}  // namespace starling::shm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The parameters of core, params and the plugin index. Layer: params.
///
/// Threads: as Registry.

#include <string>
#include <vector>

#include "params/decl.hpp"
#include "params/registry.hpp"

namespace starling::params {

inline constexpr Decl kMcaStrict =
    boolean("mca_strict", "0",
            "Treat a parameter name that nobody declares as an error; otherwise it is one warning per job.");
inline constexpr Decl kPluginPath =
    text("plugin_path", "",
         "Further directories with plugins, absolute, separated by ':'. They, their files and all above must "
         "belong to root or to you and must not be writable by a group or others. The installation's own "
         "lib/starling is always searched first.");
inline constexpr Decl kPluginStartTimeout = integer(
    "plugin_start_timeout", "60", 0, 86400,
    "How long a plugin from outside the installation may take to load and start, in seconds, before the "
    "process ends with an error; 0: any time.");
inline constexpr Decl kLogLevel = choice("log_level", "warning", "error|warning|info|debug",
                                         "The least important messages that are still printed to stderr.");

/// Declares the above (owner "core") and sets the log level from them.
[[nodiscard]] Result<void> add_core(Registry& registry);

/// The user's file if it is there but is not read because others own or can write it (core/trust.hpp), with
/// the reason: one line each, for people. Whoever calls it sees to it that a job says this once.
[[nodiscard]] std::vector<std::string> files_not_read(const Places& places);

/// What to tell people about unknown names once every declaration is in: one line each, or an Error with all
/// of them if mca_strict is set. Whoever calls it sees to it that a job says this once (rank 0, or mpiexec).
[[nodiscard]] Result<std::vector<std::string>> unknown_names(const Registry& registry);

}  // namespace starling::params

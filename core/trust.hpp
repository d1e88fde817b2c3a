// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Whether a file may decide what runs in this process. Layer: core.
///
/// Plugins are code, and a file of parameters names folders of plugins. Whoever can write such a file, or put
/// another in its place, runs code as this user: so it must belong to root or to the effective user, and
/// neither its group nor others may write to it. A group counts even where it is the user's own by custom:
/// who is in a group cannot be seen from the file, changes without a trace, and asking costs each process of
/// a job a look into the site's name service. `chmod g-w` is all that is needed. (Access lists show in the
/// group's bits.)
///
/// Threads: any. Errors: name the file or folder, its owner or mode, and what was expected.

#include <sys/stat.h>

#include <string>

#include "core/result.hpp"

namespace starling {

/// Why a file or folder with these facts is not to be trusted; empty: it is. Facts of an open descriptor:
/// then nobody can change the file between the look and its use.
[[nodiscard]] std::string distrust(const struct stat& facts);

/// Follows all links, then checks each folder from the root on as well as the end of the path: nobody but
/// root and this user can put anything else in its place between now and its use. A folder on the way may be
/// writable by all if it is sticky, as /tmp is. Gives the path without links.
[[nodiscard]] Result<std::string> trusted_path(const std::string& path);

}  // namespace starling

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The shared objects of one directory. Layer: core.
///
/// Threads: pure functions of the file system. Errors: a directory that is refused is an Error with the
///          reason
/// (Errc::not_found: it does not exist).

#include <string>
#include <vector>

#include "core/result.hpp"

namespace starling::plugin {

/// Whether a directory may be searched because somebody said so: anybody who can write to it can run code in
/// us.
enum class Trust {
  own,     ///< beside our own library: whoever can write there has us anyway
  checked  ///< must be absolute, owned by root or by us, and not writable by others
};

/// Full paths of the `*.so` entries, sorted by name. One pass over the directory; nothing is opened.
[[nodiscard]] Result<std::vector<std::string>> shared_objects_in(const std::string& directory, Trust trust);

}  // namespace starling::plugin

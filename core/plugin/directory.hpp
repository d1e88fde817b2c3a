// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The shared objects of one directory. Layer: core.
///
/// Threads: pure functions of the file system. Errors: a directory that is refused is an Error with the
///          reason
/// (Errc::not_found: it does not exist); a file that is refused is listed with its reason.

#include <string>
#include <vector>

#include "core/result.hpp"

namespace starling::plugin {

/// Whether a directory may be searched because somebody said so: anybody who can write to it can run code in
/// us.
enum class Trust {
  own,     ///< beside our own library: whoever can write there has us anyway
  checked  ///< must be absolute, and it, its files and all folders above must be sound (core/trust.hpp)
};

struct SharedObject {
  std::string path;     ///< where links are followed: of the file that they lead to
  std::string refusal;  ///< why it is not to be opened; empty: it may be
};

/// The `*.so` entries, sorted by name. One pass over the directory; no file is opened.
[[nodiscard]] Result<std::vector<SharedObject>> shared_objects_in(const std::string& directory, Trust trust);

}  // namespace starling::plugin

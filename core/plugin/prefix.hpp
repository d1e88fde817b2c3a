// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Where this Starling is installed, found from the place of libstarling itself. Layer: core.
///
/// The prefix can be moved, and a build tree works like an installation: plugins are always in `starling/`
/// beside libstarling, shipped files in etc/starling of the directory above. Threads: any.

#include <string>

namespace starling::plugin {

struct Installation {
  std::string library;           ///< real path of libstarling
  std::string prefix;            ///< <prefix>/lib/libstarling.so
  std::string plugin_directory;  ///< <prefix>/lib/starling
};

/// Found once; empty strings if the dynamic linker does not know where this code is (a static program).
[[nodiscard]] const Installation& installation();

}  // namespace starling::plugin

// SPDX-License-Identifier: BSD-3-Clause
// The place of the library that this function is in. Hard: libstarling.so is a link to the versioned file.
// Layer: core.

#include "core/plugin/prefix.hpp"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>

namespace starling::plugin {
namespace {

std::string parent(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

Installation find() {
  Installation place;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&installation), &info) == 0 || info.dli_fname == nullptr)
    return place;
  char resolved[PATH_MAX];
  // The directory is that of the real file: a link to the library elsewhere does not move the plugins.
  if (::realpath(info.dli_fname, resolved) == nullptr) return place;
  place.library = resolved;
  const std::string directory = parent(place.library);
  place.prefix = parent(directory);
  place.plugin_directory = directory + "/starling";
  return place;
}

}  // namespace

const Installation& installation() {
  static const Installation* const place = new Installation(find());  // kept: read by exit handlers too
  return *place;
}

}  // namespace starling::plugin

// SPDX-License-Identifier: BSD-3-Clause
// Loading libfabric with its traps taken care of. Layer: plugin. Design: docs/design/network.md.

#include "plugins/btl/ofi/library.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/shared_library.hpp"

namespace starling::btl::ofi {
namespace {

constexpr char kFile[] = "libfabric.so.1";

Result<Library> open_library() {
  // Else the PSM libraries take six signals: a crash becomes exit code 1 and a file in the current folder.
  for (const char* name : {"IPATH_NO_BACKTRACE", "HFI_NO_BACKTRACE"}) ::setenv(name, "1", 0);
  auto opened = SharedLibrary::open(kFile);
  if (!opened) return fail(std::move(opened).error());
  Library library;
#define STARLING_FI_FIND(NAME) opened->find("fi_" #NAME, library.NAME);
  STARLING_FI_FUNCTIONS(STARLING_FI_FIND)
#undef STARLING_FI_FIND
  if (auto complete = opened->complete(); !complete) return fail(std::move(complete).error());
  return library;
}

}  // namespace

std::uint32_t Library::api() const noexcept {
  return std::min<std::uint32_t>(version(), FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION));
}

std::string Library::name() const {
  const std::uint32_t number = version();
  return "libfabric " + std::to_string(FI_MAJOR(number)) + "." + std::to_string(FI_MINOR(number));
}

Result<const Library*> load() {
  static const Result<Library> library = open_library();
  if (!library) return fail(Error(library.error()));
  return &*library;
}

}  // namespace starling::btl::ofi

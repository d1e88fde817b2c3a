// SPDX-License-Identifier: BSD-3-Clause
// Loading libucp with its traps taken care of. Layer: plugin. Design: docs/design/network.md.

#include "plugins/btl/ucx/library.hpp"

#include <cstdlib>
#include <utility>

#include "core/shared_library.hpp"

namespace starling::btl::ucx {
namespace {

constexpr char kFile[] = "libucp.so.0";

void prepare_environment() noexcept {
  constexpr const char* kSettings[][2] = {
      {"UCX_ERROR_SIGNALS", ""},   // else SIGILL, SIGSEGV, SIGBUS and SIGFPE are taken
      {"UCX_DEBUG_SIGNO", "0"},    // else SIGHUP is
      {"UCX_MEM_EVENTS", "n"},     // else mmap and its family may be patched
      {"UCX_LOG_LEVEL", "fatal"},  // reasons are in our own messages
      {"UCX_WARN_UNUSED_ENV_VARS", "n"}, {"UCX_VFS_ENABLE", "n"}};
  for (const auto& setting : kSettings) ::setenv(setting[0], setting[1], 0);
}

Result<Library> open_library() {
  prepare_environment();
  auto opened = SharedLibrary::open(kFile);
  if (!opened) return fail(std::move(opened).error());
  Library library;
#define STARLING_UCP_FIND(NAME) opened->find("ucp_" #NAME, library.NAME);
  STARLING_UCP_FUNCTIONS(STARLING_UCP_FIND)
#undef STARLING_UCP_FIND
  opened->find("ucs_status_string", library.status_text);  // of libucs, which comes with libucp
  if (auto complete = opened->complete(); !complete) return fail(std::move(complete).error());
  return library;
}

}  // namespace

Result<const Library*> load() {
  static const Result<Library> library = open_library();
  if (!library) return fail(Error(library.error()));
  return &*library;
}

}  // namespace starling::btl::ucx

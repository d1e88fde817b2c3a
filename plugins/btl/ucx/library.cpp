// SPDX-License-Identifier: BSD-3-Clause
// Loading libucp with its traps taken care of. Layer: plugin. Design: docs/design/network.md.

#include "plugins/btl/ucx/library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

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

template <class Function>
bool find(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<Library> open_library() {
  prepare_environment();
  void* const opened = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr) {
    const char* const why = ::dlerror();
    return fail(Errc::unsupported, kFile, why != nullptr ? why : "cannot be loaded");
  }
  Library library;
  const char* missing = nullptr;
#define STARLING_UCP_FIND(NAME) \
  if (!find(opened, "ucp_" #NAME, library.NAME)) missing = "ucp_" #NAME;
  STARLING_UCP_FUNCTIONS(STARLING_UCP_FIND)
#undef STARLING_UCP_FIND
  // libucs comes with libucp; dlsym looks through what a library depends on.
  if (!find(opened, "ucs_status_string", library.status_text)) missing = "ucs_status_string";
  if (missing != nullptr) {
    return fail(Errc::unsupported, kFile, std::string("has no function ") + missing + "; it is too old");
  }
  return library;
}

}  // namespace

Result<const Library*> load() {
  static const Result<Library> library = open_library();
  if (!library) return fail(Error(library.error()));
  return &*library;
}

}  // namespace starling::btl::ucx

// SPDX-License-Identifier: BSD-3-Clause
// Opening libraries of others. Layer: core.

#include "core/shared_library.hpp"

namespace starling {

Result<SharedLibrary> SharedLibrary::open(const char* file) {
  void* const opened = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened != nullptr) return SharedLibrary(file, opened);
  const char* const why = ::dlerror();
  return fail(Errc::unsupported, file, why != nullptr ? why : "cannot be loaded");
}

Result<void> SharedLibrary::complete() const {
  if (missing_ == nullptr) return {};
  return fail(Errc::unsupported, file_, std::string("has no function ") + missing_ + "; it is too old");
}

}  // namespace starling

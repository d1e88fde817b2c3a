// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A library of others, opened when it is needed and never closed. Layer: core.
///
/// libucp, libfabric and libpmix leave signal handlers, threads and work at exit behind; closing one would
/// leave those in unmapped memory. A plugin that opens its library itself can be read on a machine without
/// it.
///
/// Threads: one at a time. Errors: Errc::unsupported, with the loader's reason or the missing function.

#include <dlfcn.h>

#include <string>

#include "core/result.hpp"

namespace starling {

class SharedLibrary {
 public:
  [[nodiscard]] static Result<SharedLibrary> open(const char* file);

  /// Looks a function up, also in what the library depends on; complete() tells whether all were found.
  template <class Function>
  void find(const char* name, Function& function) noexcept {
    function = reinterpret_cast<Function>(::dlsym(opened_, name));
    if (function == nullptr) missing_ = name;
  }
  [[nodiscard]] Result<void> complete() const;

 private:
  SharedLibrary(const char* file, void* opened) noexcept : file_(file), opened_(opened) {}
  const char* file_;
  void* opened_;
  const char* missing_ = nullptr;
};

}  // namespace starling

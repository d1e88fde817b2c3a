// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Opening a shared library while the program runs: a plugin, or a library that a plugin needs. Layer:
/// core.
///
/// Threads:   any; one object by one thread at a time.
/// Ownership: what was opened stays open until the process ends. libucp, libfabric and libpmix leave signal
///            handlers, threads and work at exit behind; closing one would leave those in unmapped memory.
/// Errors:    Errc::unsupported, with the dynamic linker's own words, such as which library is missing.

#include <string>

#include "core/result.hpp"

namespace starling {

class SharedLibrary {
 public:
  /// Opens a file, or a library that the system knows by this name: all its symbols now, none of them visible
  /// to others; once per process and name.
  [[nodiscard]] static Result<SharedLibrary> open(const std::string& file);

  /// The address of what it exports under a name, also what it depends on.
  [[nodiscard]] Result<void*> symbol(const char* name) const;

  /// Looks a function up; complete() tells whether all were found.
  template <class Function>
  void find(const char* name, Function& function) {
    const Result<void*> found = symbol(name);
    function = found ? reinterpret_cast<Function>(*found) : nullptr;
    if (!found) missing_ = name;
  }
  [[nodiscard]] Result<void> complete() const;

 private:
  SharedLibrary(const std::string& file, const void* opened) : file_(file), opened_(opened) {}
  std::string file_;
  const void* opened_;  // Boost's object
  const char* missing_ = nullptr;
};

}  // namespace starling

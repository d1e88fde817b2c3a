// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Loading a plugin's shared object. Layer: core.
///
/// Threads:   any; loads are serialised.
/// Ownership: a library that was loaded stays loaded until the process ends (core/shared_library.hpp).
/// Errors:    the dynamic linker's own words, such as which library is missing.

#include <string>

#include "core/result.hpp"

namespace starling::plugin {

inline constexpr char kEntrySymbol[] = "starling_plugin_entry";

/// Loads the file (all symbols now, none visible to others; once per process and path) and gives the address
/// of `symbol` in it.
[[nodiscard]] Result<const void*> load_symbol(const std::string& file, const char* symbol);

}  // namespace starling::plugin

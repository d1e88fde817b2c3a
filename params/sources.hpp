// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the sources say: names and texts with their origins, before any declaration is known. Layer:
/// params.
///
/// Threads: value type. Errors: a file that cannot be read or parsed is an Error with path and line.

#include <map>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "params/registry.hpp"

namespace starling::params {

/// One name's strongest setting.
struct Setting {
  std::string written;
  Origin origin;
};
using Settings = std::map<std::string, Setting, std::less<>>;

/// Reads `name = value` lines. A `#` at a line's start or after a blank begins a comment; a later line of the
/// same name replaces an earlier one.
[[nodiscard]] Result<void> parse_file_text(std::string_view text, const std::string& path, Source source,
                                           Settings& into);

/// Reads every source of `places`, weakest first. files_not_read() names those that are passed over.
[[nodiscard]] Result<Settings> read_sources(const Places& places);

}  // namespace starling::params

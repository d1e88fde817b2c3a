// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  starling-info's command line. Layer: tools.
///
/// A table of tools/options, and the sections' names beside it.
/// Threads: one. Errors: bad_parameter names what was given, what was expected, and the nearest known name.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "tools/starling-info/sections.hpp"

namespace starling::info {

struct Wanted {
  bool help = false;
  bool version = false;
  bool parsable = false;
  bool params_page = false;
  std::vector<std::string> params;                       ///< by name
  std::vector<std::pair<std::string, std::string>> mca;  ///< name and value, as for mpiexec
  PlannedJob planned;
  std::vector<std::string_view> sections;  ///< names of those asked for

  [[nodiscard]] bool everything() const { return params.empty() && sections.empty(); }
  [[nodiscard]] bool section(std::string_view name) const;
};

[[nodiscard]] Result<Wanted> parse_options(const std::vector<std::string>& words);
/// What --help prints.
[[nodiscard]] std::string help_text();

}  // namespace starling::info

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The sections of starling-info, one source file each. Layer: tools.
///
/// A section reads the context and prints; a new one is a file and a line in sections.cpp.
///
/// Threads: one. Ownership: the context is the caller's.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frameworks/select.hpp"
#include "params/registry.hpp"
#include "tools/starling-info/printer.hpp"

namespace starling::info {

/// A job of which --plan tells; 0: not said.
struct PlannedJob {
  std::uint32_t nodes = 0;
  std::uint32_t per_node = 0;
};

/// What every section may look at: the process as an MPI program would find it.
struct Context {
  std::string prefix;
  std::string library;  ///< libstarling's file
  params::Registry params;
  plugin::Index plugins;
  std::vector<std::string> problems;  ///< refused values, strict unknown names: the exit status is 1 then
  PlannedJob planned;
  std::vector<std::string> warnings;  ///< unknown names, directories that were not searched
};

/// Reads sources and plugins. An Error only where there is nothing to show (a parameter file that does not
/// parse).
[[nodiscard]] Result<Context> look_around();

struct Section {
  std::string_view name;   ///< as the option --<name>
  std::string_view about;  ///< for --help
  void (*print)(const Context& context, Printer& printer);
};
[[nodiscard]] std::span<const Section> all_sections() noexcept;

void print_build(const Context& context, Printer& printer);
void print_components(const Context& context, Printer& printer);
void print_parameters(const Context& context, Printer& printer);
void print_coverage(const Context& context, Printer& printer);
void print_fortran(const Context& context, Printer& printer);
void print_machine(const Context& context, Printer& printer);
void print_plan(const Context& context, Printer& printer);

/// One parameter, with everything that is known about it.
void print_parameter(const params::Value& value, Printer& printer);

/// All declarations as a page in Markdown. Depends on the plugins that are there, not on anybody's values.
void write_parameters_page(const params::Registry& params, std::ostream& out);

}  // namespace starling::info

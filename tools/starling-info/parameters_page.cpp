// SPDX-License-Identifier: BSD-3-Clause
// docs/parameters.md: every declaration as a row of Markdown, without this process's values. Layer: tools.

#include "params/decl.hpp"
#include "params/value.hpp"
#include "tools/starling-info/sections.hpp"

namespace starling::info {
namespace {

constexpr std::string_view kHead =
    "# Parameters\n\n"
    "Written by `starling-info --params-page` from the declarations in the code; do not edit. How to set "
    "them\n"
    "is in the [user guide](user-guide.md), how they work in [design/parameters.md](design/parameters.md).\n"
    "`starling-info` shows the values that hold here, and where each comes from.\n";

/// In a cell of a table, `|` would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped.push_back('\\');
    escaped.push_back(c == '\n' ? ' ' : c);
  }
  return escaped;
}

std::string code(std::string_view text) {
  return text.empty() ? std::string("(empty)") : "`" + cell(text) + "`";
}

void write_row(const params::Decl& decl, std::ostream& out) {
  out << "| " << code(decl.name.view());
  if (!decl.synonym.view().empty()) out << " or " << code(decl.synonym.view());
  out << " | " << code(decl.fallback.view()) << " | " << cell(params::expected(decl)) << " | "
      << cell(decl.help.view());
  if (const std::string_view whose = params::who_alike(decl); !whose.empty())
    out << " Equal on all " << whose << ".";
  out << " |\n";
}

}  // namespace

void write_parameters_page(const params::Registry& params, std::ostream& out) {
  out << kHead;
  std::string owner;
  for (const params::Value* value : params.all()) {
    if (value->owner != owner) {
      out << "\n## " << value->owner
          << "\n\n| parameter | default | value | what it does |\n|---|---|---|---|\n";
    }
    owner = value->owner;
    write_row(value->decl, out);
  }
}

}  // namespace starling::info

// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes parameter files: what is understood is understood the same when it is written down again, and a
// value is either refused or within what its declaration allows. Layer: tests.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "params/sources.hpp"
#include "params/value.hpp"

namespace {

using namespace starling;

constexpr params::Decl kDecls[] = {params::boolean("b", "no", "a switch"),
                                   params::integer("i", "5", -7, 9000000000, "a number"),
                                   params::size_bytes("s", "4k", 0, 1ll << 40, "a size"),
                                   params::text("t", "", "a text"),
                                   params::choice("c", "two", "one|two|three", "a choice"),
                                   params::selection("l", "", "a list")};

void require(bool condition) {
  if (!condition) std::abort();
}

void check_values(std::string_view written) {
  for (const params::Decl& decl : kDecls) {
    const auto value = params::parse(decl, written);
    if (!value) {
      require(!value.error().text().empty());
      continue;
    }
    if (decl.type == params::Type::boolean) require(*value == 0 || *value == 1);
    if (decl.type == params::Type::integer) require(*value >= decl.min && *value <= decl.max);
    if (decl.type == params::Type::choice)
      require(params::choices_of(decl)[static_cast<std::size_t>(*value)] == written);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  params::Settings settings;
  const auto read = params::parse_file_text(text, "file", params::Source::user_file, settings);
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  if (!read) {
    require(read.error().code == Errc::bad_parameter && read.error().detail.starts_with("file:"));
    return 0;
  }
  std::string again;
  for (const auto& [name, setting] : settings) {
    require(params::valid_name(name) && setting.origin.line >= 1 && setting.origin.line <= lines);
    require(setting.written.find('\n') == std::string::npos);
    check_values(setting.written);
    again += name + "=" + setting.written + "\n";
  }
  params::Settings copy;
  require(params::parse_file_text(again, "file", params::Source::user_file, copy).has_value());
  require(copy.size() == settings.size());
  for (const auto& [name, setting] : settings) require(copy.find(name)->second.written == setting.written);
  return 0;
}

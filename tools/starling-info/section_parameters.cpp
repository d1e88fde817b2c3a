// SPDX-License-Identifier: BSD-3-Clause
// Parameters: value, where it came from, default, range, help. Layer: tools.

#include "params/decl.hpp"
#include "params/excerpt.hpp"
#include "params/value.hpp"
#include "tools/starling-info/sections.hpp"

namespace starling::info {
namespace {

std::string_view type_name(params::Type type) noexcept {
  switch (type) {
    case params::Type::boolean: return "boolean";
    case params::Type::integer: return "integer";
    case params::Type::text: return "text";
    case params::Type::choice: return "choice";
    case params::Type::selection: return "selection";
  }
  return "unknown";
}

/// Enough of it for any path; programs (--parsable) get the whole.
std::string shown(std::string_view value) { return value.empty() ? "(empty)" : params::excerpt(value, 4096); }

}  // namespace

void print_parameter(const params::Value& value, Printer& printer) {
  const params::Decl& decl = value.decl;
  const std::string name(decl.name.view());
  printer.line(1, name + " = " + shown(value.written));
  printer.line(3, std::string(decl.help.view()));
  printer.line(3, "expected: " + params::expected(decl));
  printer.line(
      3, "default: " + shown(decl.fallback.view()) + "; value from: " + value.origin.text(value.set_as));
  if (!decl.synonym.view().empty()) printer.line(3, "also known as: " + std::string(decl.synonym.view()));
  if (const std::string_view whose = params::who_alike(decl); !whose.empty())
    printer.line(3, "must be equal on all " + std::string(whose));
  if (!value.problem.empty()) printer.line(3, "REFUSED: " + value.problem);

  const std::string key = "parameter." + name;
  printer.fact(key + ".value", value.written);
  printer.fact(key + ".default", decl.fallback.view());
  printer.fact(key + ".type", type_name(decl.type));
  printer.fact(key + ".expected", params::expected(decl));
  if (decl.type == params::Type::integer) {
    printer.fact(key + ".min", decl.min);
    printer.fact(key + ".max", decl.max);
  }
  if (decl.type == params::Type::choice) printer.fact(key + ".choices", decl.choices.view());
  printer.fact(key + ".origin", value.origin.text(value.set_as));
  printer.fact(key + ".owner", value.owner);
  printer.fact(key + ".equal_everywhere", decl.equal != 0 ? "1" : "0");
  if (!decl.synonym.view().empty()) printer.fact(key + ".synonym", decl.synonym.view());
  printer.fact(key + ".help", decl.help.view());
  if (!value.problem.empty()) printer.fact(key + ".problem", value.problem);
}

void print_parameters(const Context& context, Printer& printer) {
  std::string owner;
  for (const params::Value* value : context.params.all()) {
    if (value->owner != owner) printer.title("parameters: " + value->owner);
    owner = value->owner;
    print_parameter(*value, printer);
  }
}

}  // namespace starling::info

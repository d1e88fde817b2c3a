// SPDX-License-Identifier: BSD-3-Clause
// Whole-value parsing. Hard: overflow in the digits, in the suffix and at the sign. See
// docs/design/parameters.md.

#include "params/value.hpp"

#include <algorithm>
#include <charconv>

#include "params/decl.hpp"
#include "params/nearest.hpp"

namespace starling::params {
namespace {

constexpr std::string_view kTrue[] = {"1", "yes", "true", "on"};
constexpr std::string_view kFalse[] = {"0", "no", "false", "off"};

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

Unexpected wrong(const Decl& decl, std::string found) {
  return fail(Errc::bad_parameter, {}, std::move(found) + "; expected " + expected(decl));
}

Result<std::int64_t> parse_boolean(const Decl& decl, std::string_view written) {
  for (const auto word : kTrue) {
    if (equal_ignoring_case(word, written)) return std::int64_t{1};
  }
  for (const auto word : kFalse) {
    if (equal_ignoring_case(word, written)) return std::int64_t{0};
  }
  return wrong(decl, "is not a yes or no");
}

/// The exponent of two that a suffix stands for; 0: it is no suffix.
int suffix_shift(char c) noexcept {
  switch (lower(c)) {
    case 'k': return 10;
    case 'm': return 20;
    case 'g': return 30;
    default: return 0;
  }
}

Result<std::int64_t> parse_integer(const Decl& decl, std::string_view written) {
  std::string_view digits = written;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && lower(digits[1]) == 'x') {
    base = 16;
    digits.remove_prefix(2);
  }
  int shift = 0;
  if (decl.units != 0 && !digits.empty()) {
    shift = suffix_shift(digits.back());
    if (shift != 0) digits.remove_suffix(1);
  }
  std::uint64_t magnitude = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, magnitude, base);
  if (digits.empty() || problem == std::errc::invalid_argument || stop != end) {
    return wrong(decl, "is not a whole number");
  }
  const std::uint64_t limit = negative ? std::uint64_t{1} << 63 : (std::uint64_t{1} << 63) - 1;
  if (problem == std::errc::result_out_of_range || magnitude > (limit >> shift)) {
    return wrong(decl, "is beyond 64 bits");
  }
  magnitude <<= shift;
  // Negation in unsigned arithmetic: the most negative number has no positive counterpart.
  const auto number = static_cast<std::int64_t>(negative ? std::uint64_t{0} - magnitude : magnitude);
  if (number < decl.min || number > decl.max) return wrong(decl, "is out of range");
  return number;
}

/// Takes the first of the choices off the rest.
std::string_view take_choice(std::string_view& rest) {
  const std::string_view choice = rest.substr(0, rest.find('|'));
  rest.remove_prefix(std::min(choice.size() + 1, rest.size()));
  return choice;
}

Result<std::int64_t> parse_choice(const Decl& decl, std::string_view written) {
  std::string_view rest = decl.choices.view();
  for (std::int64_t index = 0; !rest.empty(); ++index) {
    if (take_choice(rest) == written) return index;
  }
  const std::string near = nearest(written, choices_of(decl));
  return wrong(
      decl, near.empty() ? "is none of its values" : "is none of its values (did you mean '" + near + "'?)");
}

std::string limit_text(const Decl& decl, std::int64_t number) {
  if (decl.units != 0 && number > 0) {
    for (const auto& [shift, letter] : {std::pair{30, 'g'}, std::pair{20, 'm'}, std::pair{10, 'k'}}) {
      if ((number & ((std::int64_t{1} << shift) - 1)) == 0) return std::to_string(number >> shift) + letter;
    }
  }
  return std::to_string(number);
}

std::string range_text(const Decl& decl) {
  const bool low = decl.min != std::numeric_limits<std::int64_t>::min();
  const bool high = decl.max != std::numeric_limits<std::int64_t>::max();
  if (low && high) return " from " + limit_text(decl, decl.min) + " to " + limit_text(decl, decl.max);
  if (low) return " of at least " + limit_text(decl, decl.min);
  if (high) return " of at most " + limit_text(decl, decl.max);
  return {};
}

}  // namespace

std::vector<std::string_view> choices_of(const Decl& decl) {
  std::vector<std::string_view> parts;
  std::string_view rest = decl.choices.view();
  while (!rest.empty()) parts.push_back(take_choice(rest));
  return parts;
}

std::string expected(const Decl& decl) {
  switch (decl.type) {
    case Type::boolean: return "one of 0|1|no|yes|false|true|off|on";
    case Type::integer:
      return (decl.units != 0 ? "a number of bytes" : "an integer") + range_text(decl) +
             (decl.units != 0 ? " (k, m and g mean 2^10, 2^20 and 2^30)" : "");
    case Type::text: return "any text";
    case Type::choice: return "one of " + std::string(decl.choices.view());
    case Type::selection:
      return "component names, as in a,b (only these, in this order) or ^a,b (all but these)";
  }
  return "a type that this build knows";
}

Result<Selection> parse_selection(std::string_view written) {
  Selection list;
  if (written.empty()) return list;
  list.excluded = written.front() == '^';
  if (list.excluded) written.remove_prefix(1);
  for (;;) {
    const auto comma = written.find(',');
    const std::string_view name = written.substr(0, comma);
    if (!valid_name(name)) {
      const char* why = name.empty()          ? "has an empty name in its list"
                        : name.front() == '^' ? "has a ^ inside the list; it stands once, in front"
                                              : "has a name with characters that no component name has";
      return fail(Errc::bad_parameter, {}, why);
    }
    if (std::find(list.names.begin(), list.names.end(), name) == list.names.end())
      list.names.emplace_back(name);
    if (comma == std::string_view::npos) return list;
    written.remove_prefix(comma + 1);
  }
}

Result<std::int64_t> parse(const Decl& decl, std::string_view written) {
  switch (decl.type) {
    case Type::boolean: return parse_boolean(decl, written);
    case Type::integer: return parse_integer(decl, written);
    case Type::text: return std::int64_t{0};
    case Type::choice: return parse_choice(decl, written);
    case Type::selection: {
      auto list = parse_selection(written);
      if (!list) return wrong(decl, list.error().detail);
      return std::int64_t{0};
    }
  }
  return wrong(decl, "has a type that this build does not know");
}

bool valid_name(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<void> check(const Decl& decl) {
  const std::string_view name = decl.name.view();
  const auto bad = [&](std::string why) {
    return fail(Errc::bad_input, {},
                "declaration of parameter '" + std::string(name) + "': " + std::move(why));
  };
  if (!valid_name(name)) return bad("its name is not made of letters, digits and _");
  if (!decl.synonym.view().empty() && !valid_name(decl.synonym.view())) {
    return bad("its synonym is not made of letters, digits and _");
  }
  if (decl.type > Type::selection) {
    return bad("type " + std::to_string(static_cast<std::uint32_t>(decl.type)) + " is not known, 0 to 4 are");
  }
  if (decl.min > decl.max) return bad("its range is empty");
  if (decl.type == Type::choice && decl.choices.view().empty()) return bad("it has no choices");
  if (auto fallback = parse(decl, decl.fallback.view()); !fallback) {
    return bad("its default '" + std::string(decl.fallback.view()) + "' " + fallback.error().detail);
  }
  return {};
}

}  // namespace starling::params

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Reading one value as its declaration wants it. Layer: params.
///
/// A value is read whole: a number with anything behind it is no number. Threads: pure functions, any.
/// Errors: the detail says what was expected; the caller adds parameter, value and origin.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "params/decl.hpp"

namespace starling::params {

/// What a value of this declaration has to be, for people: "an integer from 1 to 64 (suffixes k, m, g)".
[[nodiscard]] std::string expected(const Decl& decl);

/// The number that `written` means: 0 or 1, an integer, the index of a choice; 0 for texts and selections.
[[nodiscard]] Result<std::int64_t> parse(const Decl& decl, std::string_view written);

/// Whether a declaration makes sense in itself (names, type, range, a default that parses); a plugin's
/// manifest is bytes from a file.
[[nodiscard]] Result<void> check(const Decl& decl);

/// Letters, digits and '_', at least one: what a parameter or component may be called.
[[nodiscard]] bool valid_name(std::string_view name) noexcept;

/// A selection list `a,b` or `^a,b`.
struct Selection {
  bool excluded = false;           ///< `^`: all but these
  std::vector<std::string> names;  ///< empty: no list, everything by priority
};
[[nodiscard]] Result<Selection> parse_selection(std::string_view written);

/// The values of a choice, in order.
[[nodiscard]] std::vector<std::string_view> choices_of(const Decl& decl);

}  // namespace starling::params

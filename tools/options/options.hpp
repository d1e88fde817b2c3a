// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the command lines of the tools have in common: a table's rows, and one option with its values.
/// Layer: tools.
///
/// Tables of our own instead of a parser library: options of mpiexec have one or two dashes at will, some
/// take two values, and a parser library in headers took longer to compile than any file. Each tool has its
/// table, whose rows have a Form, and the loop over its words, since what is no option differs.
/// Threads: pure functions. Errors: bad_parameter names the option as it was given and what was expected.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::options {

/// What an option looks like. A tool's row has these three and what the option does.
struct Form {
  std::string_view names;   ///< separated by spaces, without dashes
  std::string_view values;  ///< placeholders, separated by spaces: their count is the number of values
  std::string_view help;
};

/// Form::names one by one; the first is the usual one.
[[nodiscard]] std::vector<std::string_view> names_of(std::string_view names);

/// The row of a table that has this name, or null.
template <class Row, std::size_t Rows>
[[nodiscard]] const Row* find(const Row (&table)[Rows], std::string_view name) {
  for (const Row& row : table) {
    for (const std::string_view known : names_of(row.names)) {
      if (known == name) return &row;
    }
  }
  return nullptr;
}

/// An option as it was written: "--name=value".
struct Word {
  std::string given;      ///< "--name"
  std::string_view name;  ///< in the word that was given
  bool two_dashes = false;
  std::optional<std::string> value;
};
/// None: it does not begin with a dash, or is nothing more.
[[nodiscard]] std::optional<Word> option_in(const std::string& word);

/// The values of the option in words[at]: the one behind '=', then the words that follow it. `at` moves to
/// the last of them.
[[nodiscard]] Result<std::vector<std::string>> values_of(const Form& form, const Word& word,
                                                         std::span<const std::string> words, std::size_t& at);

/// None: it is no whole number from `least` to `most`.
[[nodiscard]] std::optional<std::uint32_t> whole_number(std::string_view text, std::uint32_t least,
                                                        std::uint32_t most);

/// "  -n -np N    start N ranks": one line of a help text, whose second part begins at `column`.
[[nodiscard]] std::string help_line(std::string left, std::string_view right, std::size_t column);

}  // namespace starling::options

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The two forms of starling-info's output. Layer: tools.
///
/// For people: titles and indented lines. For programs (--parsable): one fact a line, `key=value`, keys in
/// dotted parts, in which a line break of the value is written \n and a backslash \\. A section gives both at
/// once; one is printed.
///
/// Threads: one. Errors: none; the stream keeps them.

#include <ostream>
#include <string>
#include <string_view>

namespace starling::info {

class Printer {
 public:
  Printer(std::ostream& out, bool parsable) : out_(out), parsable_(parsable) {}

  /// For people only.
  void title(std::string_view text);
  /// A line, indented by `depth` steps and wrapped at 100 columns.
  void line(int depth, std::string_view text);
  /// For programs only.
  void fact(std::string_view key, std::string_view value);
  void fact(std::string_view key, std::int64_t value) { fact(key, std::to_string(value)); }

 private:
  std::ostream& out_;
  bool parsable_;
  bool begun_ = false;
};

/// A size as a person would write it: 64k, 1.5g, 100.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace starling::info

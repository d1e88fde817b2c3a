// SPDX-License-Identifier: BSD-3-Clause
// Wrapping and escaping. Layer: tools.

#include "tools/starling-info/printer.hpp"

#include <cstdio>

namespace starling::info {
namespace {

constexpr std::size_t kColumns = 100;

/// Where to break `text` so that the first part fits into `room`: after the last blank, else in the middle of
/// a word's line.
std::size_t break_at(std::string_view text, std::size_t room) noexcept {
  if (text.size() <= room) return text.size();
  const auto blank = text.rfind(' ', room);
  if (blank != std::string_view::npos && blank > 0) return blank;
  const auto next = text.find(' ');  // a word that is too long stays whole: paths are copied from here
  return next == std::string_view::npos ? text.size() : next;
}

}  // namespace

void Printer::title(std::string_view text) {
  if (parsable_) return;
  if (begun_) out_ << '\n';
  begun_ = true;
  out_ << text << '\n';
}

void Printer::line(int depth, std::string_view text) {
  if (parsable_) return;
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    bool continued = false;
    do {
      const std::string margin = continued ? indent + "  " : indent;
      const std::size_t length = break_at(part, kColumns - margin.size());
      out_ << margin << part.substr(0, length) << '\n';
      part.remove_prefix(length);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      continued = true;
    } while (!part.empty());
  }
}

void Printer::fact(std::string_view key, std::string_view value) {
  if (!parsable_) return;
  out_ << key << '=';
  for (const char c : value) {
    if (c == '\n') {
      out_ << "\\n";
    } else if (c == '\\') {
      out_ << "\\\\";
    } else {
      out_ << c;
    }
  }
  out_ << '\n';
}

std::string size_text(std::uint64_t bytes) {
  constexpr char kUnits[] = {'k', 'm', 'g', 't'};
  if (bytes < 1024) return std::to_string(bytes);
  double scaled = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (scaled /= 1024; scaled >= 1024 && unit + 1 < sizeof kUnits; ++unit) scaled /= 1024;
  char text[32];
  const bool whole = scaled == static_cast<double>(static_cast<std::uint64_t>(scaled));
  std::snprintf(text, sizeof text, whole ? "%.0f%c" : "%.1f%c", scaled, kUnits[unit]);
  return text;
}

}  // namespace starling::info

// SPDX-License-Identifier: BSD-3-Clause
// Quoting. Layer: tools.

#include "tools/mpiexec/handover/shell_words.hpp"

#include <string_view>

namespace starling::mpiexec {

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(quoted(word));
  return text;
}

}  // namespace starling::mpiexec

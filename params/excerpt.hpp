// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What messages show of a text that somebody else wrote: a value, a name, a line. Layer: params.
///
/// A file may hold a value of a mebibyte; a message that repeats it is one that nobody finds the end of.
/// Threads: pure. Units: bytes.

#include <string>
#include <string_view>

namespace starling::params {

/// The text, or its beginning and how long it is. Control characters become '?': a NUL would end the message,
/// others would do to the terminal what they mean.
[[nodiscard]] inline std::string excerpt(std::string_view text, std::size_t most = 160) {
  std::string shown(text.substr(0, most));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  if (text.size() > most) shown += "... (" + std::to_string(text.size()) + " characters in all)";
  return shown;
}

}  // namespace starling::params

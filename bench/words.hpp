// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Lists on the command lines of programs in virtual time. Layer: bench.

#include <algorithm>
#include <string>
#include <vector>

namespace starling::bench {

/// The words between commas; one, empty, of an empty text.
inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace starling::bench

// SPDX-License-Identifier: BSD-3-Clause
// One option with its values. Layer: tools.

#include "tools/options/options.hpp"

#include <algorithm>
#include <charconv>

namespace starling::options {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), words.back().size() + 1));
  }
  return words;
}

}  // namespace

std::vector<std::string_view> names_of(std::string_view names) { return words_of(names); }

std::optional<Word> option_in(const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return std::nullopt;
  Word found;
  found.two_dashes = word[1] == '-';
  const std::size_t equals = word.find('=');
  found.given = word.substr(0, equals);
  found.name = std::string_view(word).substr(0, equals).substr(found.two_dashes ? 2 : 1);
  if (equals != std::string::npos) found.value = word.substr(equals + 1);
  return found;
}

Result<std::vector<std::string>> values_of(const Form& form, const Word& word,
                                           std::span<const std::string> words, std::size_t& at) {
  const std::size_t count = words_of(form.values).size();
  std::vector<std::string> values;
  if (word.value) values.push_back(*word.value);
  if (values.size() > count) return fail(Errc::bad_parameter, {}, "option " + word.given + " takes no value");
  while (values.size() < count) {
    if (++at >= words.size()) {
      return fail(Errc::bad_parameter, {}, "option " + word.given + " needs " + std::string(form.values));
    }
    values.push_back(words[at]);
  }
  return values;
}

std::optional<std::uint32_t> whole_number(std::string_view text, std::uint32_t least, std::uint32_t most) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end || value < least || value > most) return std::nullopt;
  return value;
}

std::string help_line(std::string left, std::string_view right, std::size_t column) {
  left.resize(std::max(left.size() + 2, column), ' ');
  return left.append(right).append("\n");
}

}  // namespace starling::options

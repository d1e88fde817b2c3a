// SPDX-License-Identifier: BSD-3-Clause
// -configfile and -hostfile. Layer: tools.

#include <fstream>
#include <sstream>

#include "tools/mpiexec/options.hpp"

namespace starling::mpiexec {
namespace {

Unexpected file_error(const std::string& path, int line, const std::string& rule) {
  return fail(Errc::bad_input, "mpiexec", path + (line > 0 ? ":" + std::to_string(line) : "") + ": " + rule);
}

/// Splits one line as a shell would: blanks separate, quotes and backslashes protect, `#` at a word's start
/// is a comment.
Result<void> split_line(const std::string& path, int number, const std::string& line,
                        std::vector<std::string>& words) {
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else if (c == '\\' && quote == '"' && i + 1 < line.size() &&
                 (line[i + 1] == '"' || line[i + 1] == '\\')) {
        word += line[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else if (c == '#' && !in_word) {
      return {};
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != '\0') return file_error(path, number, std::string("a ") + quote + " is not closed");
  if (in_word) words.push_back(word);
  return {};
}

}  // namespace

Result<std::vector<std::string>> read_config_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return file_error(path, 0, "cannot be read");
  std::vector<std::string> words;
  std::string line;
  std::string joined;
  int number = 0;
  while (std::getline(file, line)) {
    ++number;
    joined += line;
    if (!joined.empty() && joined.back() == '\\') {  // goes on in the next line, if there is one
      joined.back() = ' ';
      if (file.peek() != std::ifstream::traits_type::eof()) continue;
    }
    std::vector<std::string> of_line;
    if (auto split = split_line(path, number, joined, of_line); !split) return fail(std::move(split).error());
    joined.clear();
    if (of_line.empty()) continue;
    if (!words.empty() && words.back() != ":" && of_line.front() != ":") words.emplace_back(":");
    words.insert(words.end(), of_line.begin(), of_line.end());
  }
  if (words.empty()) return file_error(path, 0, "names no program");
  return words;
}

Result<std::vector<std::string>> read_host_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return file_error(path, 0, "cannot be read");
  std::vector<std::string> hosts;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (!(words >> host)) continue;
    std::string word;
    while (words >> word) {
      if (word.compare(0, 6, "slots=") == 0) {
        host += ":" + word.substr(6);
      } else if (word.find('=') == std::string::npos) {
        return file_error(path, number, "\"" + word + "\" is no NAME=VALUE");
      }
    }
    hosts.push_back(host);
  }
  return hosts;
}

}  // namespace starling::mpiexec

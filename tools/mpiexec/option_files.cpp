// SPDX-License-Identifier: BSD-3-Clause
// -configfile and -hostfile. Layer: tools.

#include <fstream>
#include <iterator>
#include <sstream>

#include "tools/mpiexec/options.hpp"
#include "tools/options/options.hpp"

namespace starling::mpiexec {
namespace {

Unexpected file_error(const std::string& path, int line, const std::string& rule) {
  return fail(Errc::bad_input, kWhere, path + (line > 0 ? ":" + std::to_string(line) : "") + ": " + rule);
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

/// The words between blanks; those around '=' separate nothing.
std::vector<std::string> words_of_host_line(const std::string& line) {
  std::string joined;
  for (const char c : line) {
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (blank && (joined.empty() || joined.back() == '=')) continue;
    if (c == '=') joined.erase(joined.find_last_not_of(' ') + 1);
    joined += blank ? ' ' : c;
  }
  std::istringstream words(joined);
  return {std::istream_iterator<std::string>(words), {}};
}

Unexpected bad_host_line(std::string rule) { return fail(Errc::bad_input, kWhere, std::move(rule)); }

/// "name:slots" of a line "name slots=N", "name:N" or "name"; empty: there is none.
Result<std::string> host_in_line(const std::string& line) {
  const std::vector<std::string> words = words_of_host_line(line);
  if (words.empty()) return std::string();
  const std::string& name = words.front();
  const std::size_t colon = name.find(':');
  const bool address = colon != std::string::npos && name.find(':', colon + 1) != std::string::npos;
  if (name.find('=') != std::string::npos)
    return bad_host_line("\"" + name + "\" stands where a host's name belongs");
  std::optional<std::uint32_t> slots;
  std::optional<std::uint32_t> most;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string key = words[i].substr(0, equals);
    const bool is_slots = key == "slots" || key == "cpu" || key == "cpus" || key == "count";
    const bool is_most = key == "max-slots" || key == "max_slots";
    if (equals == std::string::npos || !(is_slots || is_most)) {
      return bad_host_line("\"" + words[i] +
                           "\" is none of slots=N, cpu=N, cpus=N, count=N, max-slots=N, max_slots=N");
    }
    std::optional<std::uint32_t>& value = is_slots ? slots : most;
    if (value || (is_slots && colon != std::string::npos && !address))
      return bad_host_line("\"" + words[i] + "\": the number of slots of " + name + " is said twice");
    value = options::whole_number(std::string_view(words[i]).substr(equals + 1), 1, kMaxRanks);
    if (!value) {
      return bad_host_line("\"" + words[i] + "\": a whole number from 1 to " + std::to_string(kMaxRanks) +
                           " was expected");
    }
  }
  if (slots && most && *slots > *most)
    return bad_host_line("slots=" + std::to_string(*slots) +
                         " is more than max-slots=" + std::to_string(*most));
  if (!slots && (colon == std::string::npos || address)) slots = most;
  if (slots && address)
    return bad_host_line("slots of " + name + ", an address of IPv6, cannot be told; give the host a name");
  return slots ? name + ":" + std::to_string(*slots) : name;
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
    auto host = host_in_line(line.substr(0, line.find('#')));
    if (!host) return file_error(path, number, host.error().detail);
    if (!host->empty()) hosts.push_back(std::move(*host));
  }
  return hosts;
}

}  // namespace starling::mpiexec

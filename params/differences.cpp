// SPDX-License-Identifier: BSD-3-Clause
// Lists of settings as text, and how two of them differ. A list comes from another process: a broken line is
// left out. Layer: params.

#include "params/differences.hpp"

#include <algorithm>
#include <map>

namespace starling::params {
namespace {

constexpr std::size_t kShownMost = 200;  // of a value: a list must stay short

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

struct Entry {
  std::string_view value, origin;
};

std::map<std::string_view, Entry> entries_of(std::string_view lines) {
  std::map<std::string_view, Entry> entries;
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    entries[line.substr(0, first)] = {line.substr(first + 1, second - first - 1), line.substr(second + 1)};
  }
  return entries;
}

std::string side(const Entry* entry, std::string_view who) {
  if (entry == nullptr) return "unknown to " + std::string(who);
  return "'" + std::string(entry->value) + "' on " + std::string(who) + " (" + std::string(entry->origin) +
         ")";
}

}  // namespace

std::string shown(std::string_view text) {
  std::string line(text.substr(0, kShownMost));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text.size() > kShownMost ? line + "..." : line;
}

std::string list_of(const Registry& params, Alike alike) {
  std::string list;
  for (const Value* const value : params.all()) {
    if (value->decl.equal != static_cast<std::uint16_t>(alike)) continue;
    list.append(value->decl.name.view()).append("\t").append(shown(value->written)).append("\t");
    list.append(shown(value->origin.text(value->set_as))) += '\n';
  }
  return list;
}

std::string differences(std::string_view mine, std::string_view theirs) {
  const std::string_view me = next_line(mine), them = next_line(theirs);
  const auto ours = entries_of(mine), others = entries_of(theirs);
  std::string text;
  const auto add = [&](std::string_view name, const Entry* a, const Entry* b) {
    text += "\n  " + std::string(name) + ": " + side(a, me) + ", " + side(b, them);
  };
  for (const auto& [name, entry] : ours) {
    const auto other = others.find(name);
    if (other == others.end()) {
      add(name, &entry, nullptr);
    } else if (other->second.value != entry.value) {
      add(name, &entry, &other->second);
    }
  }
  for (const auto& [name, entry] : others) {
    if (!ours.contains(name)) add(name, nullptr, &entry);
  }
  return text;
}

}  // namespace starling::params

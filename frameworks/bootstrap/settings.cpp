// SPDX-License-Identifier: BSD-3-Clause
// The hash is over names and values as they are read (`yes` is `1`), so that only what matters differs;
// origins are not in it. Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/settings.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "params/decl.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::size_t kShownMost = 200;  // of a value: a list must stay short
constexpr std::string_view kLibrary = "library";

class Hash {
 public:
  void add(std::string_view text) noexcept {
    for (const char byte : text) step(static_cast<unsigned char>(byte));
    step(0x100);  // where a text ends
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  void step(std::uint64_t number) noexcept { hash_ = (hash_ ^ number) * 0x100000001b3u; }
  std::uint64_t hash_ = 0xcbf29ce484222325u;  // FNV-1a
};

/// On one line, and not too long.
std::string shown(std::string_view text) {
  std::string line(text.substr(0, kShownMost));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text.size() > kShownMost ? line + "..." : line;
}

/// As it counts: numbers as numbers, texts as they were written.
std::string meaning_of(const params::Value& value) {
  switch (value.decl.type) {
    case params::Type::boolean:
    case params::Type::integer:
    case params::Type::choice: return std::to_string(value.number);
    case params::Type::text:
    case params::Type::selection: return value.written;
  }
  return value.written;
}

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

Settings Settings::of(const params::Registry& params, std::string_view library, std::string who) {
  Settings settings;
  Hash hash;
  hash.add(library);
  settings.list_ = shown(who) + "\n" + std::string(kLibrary) + "\t" + shown(library) + "\tthis build\n";
  for (const params::Value* const value : params.all()) {
    if (value->decl.equal == 0) continue;
    const std::string name(value->decl.name.view()), origin = shown(value->origin.text(value->set_as));
    hash.add(name);
    hash.add(meaning_of(*value));
    settings.list_.append(name).append("\t").append(shown(value->written)).append("\t").append(origin) +=
        '\n';
    if (value->origin.source == params::Source::default_value) continue;
    settings.set_ +=
        (settings.set_.empty() ? "" : ", ") + name + "=" + shown(value->written) + " (" + origin + ")";
  }
  settings.hash_ = hash.value();
  return settings;
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

}  // namespace starling::bootstrap

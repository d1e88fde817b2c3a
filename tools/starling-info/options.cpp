// SPDX-License-Identifier: BSD-3-Clause
// The table of starling-info's options and its interpreter. Layer: tools.

#include "tools/starling-info/options.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "params/excerpt.hpp"
#include "params/nearest.hpp"

namespace starling::info {
namespace {

constexpr std::uint32_t kMost = 1 << 15;  // nodes times processes fit into 32 bits

using Texts = std::span<const std::string>;

Unexpected refused(std::string text) { return fail(Errc::bad_parameter, {}, std::move(text)); }

/// 0: `text` is no number of nodes or processes.
std::uint32_t amount(const std::string& text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc{} && stop == end && value <= kMost ? value : 0;
}

struct Choice {
  std::string_view name;    ///< without dashes; of one letter: with one dash
  std::string_view values;  ///< placeholders, separated by spaces
  std::string_view about;
  bool (*take)(Wanted&, Texts);  ///< false: the value is not what is expected
  std::string_view expected = {};
  bool again = false;  ///< further values may follow without the option's name
};

constexpr Choice kChoices[] = {
    {"help", "", "print this (also -h)", [](Wanted& wanted, Texts) { return wanted.help = true; }},
    {"version", "", "print the version (also -V)",
     [](Wanted& wanted, Texts) { return wanted.version = true; }},
    {"parsable", "", "one fact a line, key=value, for programs",
     [](Wanted& wanted, Texts) { return wanted.parsable = true; }},
    {"param",
     "NAME",
     "only this parameter (may be repeated)",
     [](Wanted& wanted, Texts texts) {
       wanted.params.push_back(texts[0]);
       return true;
     },
     {},
     true},
    {"params-page", "", "all parameters with their defaults, as a page in Markdown",
     [](Wanted& wanted, Texts) { return wanted.params_page = true; }},
    {"mca",
     "NAME VALUE",
     "as if set by mpiexec's option of that name (may be repeated)",
     [](Wanted& wanted, Texts texts) {
       wanted.mca.emplace_back(texts[0], texts[1]);
       return true;
     },
     {},
     true},
    {"nodes", "M", "--plan of a job on so many nodes",
     [](Wanted& wanted, Texts texts) { return (wanted.planned.nodes = amount(texts[0])) != 0; },
     "a whole number from 1 to 32768"},
    {"ppn", "N", "--plan of a job with so many processes on each node",
     [](Wanted& wanted, Texts texts) { return (wanted.planned.per_node = amount(texts[0])) != 0; },
     "a whole number from 1 to 32768"},
};

const Choice* find_choice(std::string_view name) {
  if (name == "h") name = "help";
  if (name == "V") name = "version";
  const auto* const found = std::find_if(std::begin(kChoices), std::end(kChoices),
                                         [name](const Choice& choice) { return choice.name == name; });
  return found == std::end(kChoices) ? nullptr : found;
}

Unexpected not_understood(const std::string& word, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Choice& choice : kChoices) known.push_back(choice.name);
  for (const Section& section : all_sections()) known.push_back(section.name);
  const std::string near = name == word ? "" : params::nearest(name, known);
  return refused("'" + params::excerpt(word) + "' is not understood" +
                 (near.empty() ? "" : "; did you mean '--" + near + "'?") +
                 " (starling-info --help lists all options)");
}

bool an_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// What follows the option at words[at]; moves `at` to the last word that belongs to it.
Result<void> take_values(const Choice& choice, std::optional<std::string> first, Texts words, std::size_t& at,
                         Wanted& wanted) {
  const std::size_t count =
      choice.values.empty()
          ? 0
          : 1 + static_cast<std::size_t>(std::count(choice.values.begin(), choice.values.end(), ' '));
  const std::string option = "--" + std::string(choice.name);
  do {
    std::vector<std::string> texts;
    if (first) texts.push_back(*std::exchange(first, std::nullopt));
    if (texts.size() > count) return refused(option + " takes no value");
    while (texts.size() < count) {
      if (++at >= words.size()) return refused(option + " needs " + std::string(choice.values));
      texts.push_back(words[at]);
    }
    if (!choice.take(wanted, texts)) {
      return refused(option + ": '" + params::excerpt(texts[0]) + "' is not " + std::string(choice.expected));
    }
  } while (choice.again && at + 1 < words.size() && !an_option(words[at + 1]));
  return {};
}

}  // namespace

bool Wanted::section(std::string_view name) const {
  return std::find(sections.begin(), sections.end(), name) != sections.end();
}

Result<Wanted> parse_options(const std::vector<std::string>& words) {
  Wanted wanted;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (!an_option(word)) return not_understood(word, word);
    const bool two = word.compare(0, 2, "--") == 0;
    const std::size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(two ? 2 : 1, equals - (two ? 2 : 1));
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    const Choice* const choice = two == (name.size() > 1) ? find_choice(name) : nullptr;
    if (choice != nullptr) {
      if (auto taken = take_values(*choice, std::move(value), words, at, wanted); !taken)
        return fail(std::move(taken).error());
      continue;
    }
    const auto sections = all_sections();
    const auto section = std::find_if(sections.begin(), sections.end(),
                                      [name](const Section& known) { return known.name == name; });
    if (!two || section == sections.end() || value) return not_understood(word, name);
    wanted.sections.push_back(section->name);
  }
  if (wanted.planned.nodes != 0 || wanted.planned.per_node != 0) wanted.sections.push_back("plan");
  return wanted;
}

std::string help_text() {
  std::string text =
      "usage: starling-info [OPTIONS]\n"
      "Shows what an MPI program would find here. Without an option: everything.\n\n";
  const auto line = [&text](std::string left, std::string_view about) {
    left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
    text.append(left).append(about).append("\n");
  };
  for (const Choice& choice : kChoices) {
    line("  --" + std::string(choice.name) + (choice.values.empty() ? "" : " ") + std::string(choice.values),
         choice.about);
  }
  for (const Section& section : all_sections()) {
    line("  --" + std::string(section.name), "only: " + std::string(section.about));
  }
  return text;
}

}  // namespace starling::info

// SPDX-License-Identifier: BSD-3-Clause
// The table of starling-info's options and its interpreter. Layer: tools.

#include "tools/starling-info/options.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "params/excerpt.hpp"
#include "params/nearest.hpp"
#include "tools/options/options.hpp"

namespace starling::info {
namespace {

constexpr std::uint32_t kMost = 1 << 15;  // nodes times processes fit into 32 bits

using Texts = std::span<const std::string>;

Unexpected refused(std::string text) { return fail(Errc::bad_parameter, {}, std::move(text)); }

/// 0: `text` is no number of nodes or processes.
std::uint32_t amount(const std::string& text) { return options::whole_number(text, 1, kMost).value_or(0); }

/// Names of one letter have one dash, others two.
struct Choice {
  std::string_view names, values, help;  ///< options::Form
  bool (*take)(Wanted&, Texts);          ///< false: the value is not what is expected
  std::string_view expected = {};
  bool again = false;  ///< further values may follow without the option's name
};

constexpr Choice kChoices[] = {
    {"help h", "", "print this (also -h)", [](Wanted& wanted, Texts) { return wanted.help = true; }},
    {"version V", "", "print the version (also -V)",
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
    {"nodes", "M", "--plan of a job on M nodes",
     [](Wanted& wanted, Texts texts) { return (wanted.planned.nodes = amount(texts[0])) != 0; },
     "a whole number from 1 to 32768"},
    {"ppn", "N", "--plan of a job with N processes on each node",
     [](Wanted& wanted, Texts texts) { return (wanted.planned.per_node = amount(texts[0])) != 0; },
     "a whole number from 1 to 32768"},
};

Unexpected not_understood(const std::string& word, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Choice& choice : kChoices) known.push_back(options::names_of(choice.names).front());
  for (const Section& section : all_sections()) known.push_back(section.name);
  const std::string near = name == word ? "" : params::nearest(name, known);
  return refused("'" + params::excerpt(word) + "' is not understood" +
                 (near.empty() ? "" : "; did you mean '--" + near + "'?") +
                 " (starling-info --help lists all options)");
}

/// Takes the option at words[at] with its values; `at` moves to the last word that belongs to it.
Result<void> take(const Choice& choice, options::Word word, Texts words, std::size_t& at, Wanted& wanted) {
  do {
    auto texts = options::values_of({choice.names, choice.values, choice.help}, word, words, at);
    if (!texts) return refused(texts.error().detail);
    if (!choice.take(wanted, *texts)) {
      return refused(word.given + ": '" + params::excerpt(texts->front()) + "' is not " +
                     std::string(choice.expected));
    }
    word.value.reset();
  } while (choice.again && at + 1 < words.size() && !options::option_in(words[at + 1]));
  return {};
}

}  // namespace

bool Wanted::section(std::string_view name) const {
  return std::find(sections.begin(), sections.end(), name) != sections.end();
}

Result<Wanted> parse_options(const std::vector<std::string>& words) {
  Wanted wanted;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto word = options::option_in(words[at]);
    if (!word) return not_understood(words[at], words[at]);
    const bool dashes_fit = word->two_dashes == (word->name.size() > 1);
    const Choice* const choice = dashes_fit ? options::find(kChoices, word->name) : nullptr;
    if (choice != nullptr) {
      if (auto taken = take(*choice, *word, words, at, wanted); !taken) return fail(std::move(taken).error());
      continue;
    }
    const auto sections = all_sections();
    const auto section = std::find_if(sections.begin(), sections.end(),
                                      [&](const Section& known) { return known.name == word->name; });
    if (!word->two_dashes || section == sections.end() || word->value)
      return not_understood(words[at], word->name);
    wanted.sections.push_back(section->name);
  }
  if (wanted.planned.nodes != 0 || wanted.planned.per_node != 0) wanted.sections.push_back("plan");
  return wanted;
}

std::string help_text() {
  std::string text =
      "usage: starling-info [OPTIONS]\n"
      "Shows what an MPI program would find here. Without an option: everything.\n\n";
  constexpr std::size_t kColumn = 26;
  for (const Choice& choice : kChoices) {
    std::string left = "  --" + std::string(options::names_of(choice.names).front());
    left.append(choice.values.empty() ? "" : " ").append(choice.values);
    text += options::help_line(std::move(left), choice.help, kColumn);
  }
  for (const Section& section : all_sections()) {
    text += options::help_line("  --" + std::string(section.name), "only: " + std::string(section.about),
                               kColumn);
  }
  return text;
}

}  // namespace starling::info

// SPDX-License-Identifier: BSD-3-Clause
// The words of -bind-to, -map-by and -rank-by. Layer: tools.

#include <algorithm>
#include <cctype>
#include <optional>

#include "params/excerpt.hpp"
#include "tools/mpiexec/binding.hpp"
#include "tools/options/options.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::uint32_t kMost = 1u << 20;

struct UnitName {
  std::string_view name;
  Unit unit;
};
/// The first name of a unit is the one that is written.
constexpr UnitName kUnitNames[] = {
    {"none", Unit::none},       {"rr", Unit::processor},    {"hwthread", Unit::hwthread},
    {"hwt", Unit::hwthread},    {"cpu", Unit::hwthread},    {"core", Unit::core},
    {"l1cache", Unit::l1cache}, {"l2cache", Unit::l2cache}, {"l3cache", Unit::l3cache},
    {"numa", Unit::numa},       {"socket", Unit::socket},   {"package", Unit::socket},
    {"machine", Unit::machine}, {"board", Unit::machine},
};
constexpr std::string_view kUnitList = "hwthread, core, l1cache, l2cache, l3cache, numa, socket, machine";

std::optional<Unit> unit_named(std::string_view name) {
  for (const UnitName& known : kUnitNames) {
    if (known.name == name) return known.unit;
  }
  return std::nullopt;
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

/// "a:b,c": its parts, in small letters. A part may be empty.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find_first_of(parts.empty() ? ":" : ":,");
    parts.push_back(in_small_letters(text.substr(0, end)));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Unexpected unknown(std::string_view word, std::string_view text, std::string_view known) {
  std::string message = "\"" + params::excerpt(std::string(word)) + "\"";
  if (word != text) message += " in \"" + params::excerpt(std::string(text)) + "\"";
  return fail(Errc::bad_parameter, {}, message + " is none of " + std::string(known));
}

std::optional<std::uint32_t> count_in(std::string_view word) { return options::whole_number(word, 1, kMost); }

Result<void> read_map_modifier(const std::string& word, std::string_view text, PlacementWords& into) {
  if (word == "oversubscribe" || word == "nooversubscribe") return {};  // always allowed
  if (word == "inherit" || word == "noinherit") return {};              // what spawned jobs would do
  if (word == "span") return into.map.over_all_hosts = true, Result<void>();
  if (word == "display") return into.show = true, Result<void>();
  if (word == "hwtcpus") return into.map.cores_are_threads = true, Result<void>();
  if (word == "corecpus") return into.map.cores_are_threads = false, Result<void>();
  const auto cores = word.starts_with("pe=") ? count_in(std::string_view(word).substr(3)) : std::nullopt;
  if (!cores) {
    return unknown(
        word, text,
        "PE=N, OVERSUBSCRIBE, NOOVERSUBSCRIBE, SPAN, HWTCPUS, CORECPUS, INHERIT, NOINHERIT, DISPLAY");
  }
  into.map.cores = *cores;
  return {};
}

/// "ppr:N:UNIT"; the parts that are left are modifiers.
Result<void> read_per_resource(const std::vector<std::string>& parts, std::string_view text,
                               PlacementWords& into) {
  const auto count = parts.size() > 2 ? count_in(parts[1]) : std::nullopt;
  if (!count)
    return unknown(text, text, "ppr:N:node, ppr:N:socket, ppr:N:core and so on, with a whole number N");
  if (parts[2] == "node") {
    into.per_node = *count;
    return {};
  }
  const auto unit = unit_named(parts[2]);
  if (!unit || *unit <= Unit::processor) return unknown(parts[2], text, "node, " + std::string(kUnitList));
  into.map.unit = *unit;
  into.map.per_unit = *count;
  return {};
}

}  // namespace

std::string word_for(Unit unit, std::uint32_t count) {
  const auto* const known = std::find_if(std::begin(kUnitNames), std::end(kUnitNames),
                                         [unit](const UnitName& each) { return each.unit == unit; });
  return std::string(known->name) + (count > 1 ? ":" + std::to_string(count) : "");
}

Result<void> read_bind_to(std::string_view text, PlacementWords& into) {
  const std::vector<std::string> parts = parts_of(text);
  const auto unit = unit_named(parts[0]);
  if (!unit)
    return unknown(parts[0], text,
                   "none, core, socket, numa, hwthread, l1cache, l2cache, l3cache, machine, rr");
  BindTo bind{*unit, 1, true, false};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string& word = parts[i];
    const auto count = i == 1 && *unit != Unit::none ? count_in(word) : std::nullopt;
    if (count) {
      bind.count = *count;
    } else if (word == "overload-allowed") {
      bind.overload = true;
    } else if (word == "report") {
      into.show = true;
    } else if (word != "no-overload" && word != "if-supported") {
      return unknown(word, text, "N (so many of them), overload-allowed, no-overload, if-supported, report");
    }
  }
  into.bind = bind;
  return {};
}

Result<void> read_map_by(std::string_view text, PlacementWords& into) {
  const std::vector<std::string> parts = parts_of(text);
  std::size_t next = 1;
  const auto unit = unit_named(parts[0]);
  if (parts[0] == "ppr") {
    if (auto done = read_per_resource(parts, text, into); !done) return done;
    next = 3;
  } else if (parts[0] == "slot" || parts[0] == "node") {
    into.nodes_in_turn = parts[0] == "node";
    into.map.unit = Unit::none;
  } else if (unit && *unit > Unit::processor) {
    into.nodes_in_turn = false;
    into.map.unit = *unit;
    into.map.count = 1;
    if (const auto count = parts.size() > 1 ? count_in(parts[1]) : std::nullopt) {
      into.map.count = *count;
      next = 2;
    }
  } else if (!(parts[0].empty() && parts.size() > 1)) {
    return unknown(parts[0], text, "slot, node, ppr:N:node, " + std::string(kUnitList));
  }
  for (; next < parts.size(); ++next) {
    if (auto done = read_map_modifier(parts[next], text, into); !done) return done;
  }
  return {};
}

Result<void> read_rank_by(std::string_view text, PlacementWords& into) {
  const std::string word = in_small_letters(text);
  if (word == "node") {
    into.nodes_in_turn = true;
    return {};
  }
  const auto unit = unit_named(word);
  if (word != "slot" && (!unit || *unit <= Unit::processor))
    return unknown(text, text, "slot, node, " + std::string(kUnitList));
  into.map.ranking_said = true;
  into.map.ranking = word == "slot" || *unit <= Unit::core ? Unit::none : *unit;
  return {};
}

Result<void> settle(PlacementWords& words) {
  const std::uint32_t cores = std::exchange(words.map.cores, 0u);
  if (cores == 0 || (words.bind.said && words.bind.unit == Unit::none)) return {};
  BindTo& bind = words.bind;
  const bool counts = bind.unit == Unit::core || bind.unit == Unit::hwthread;
  if (bind.said && (!counts || bind.count > 1)) {
    return fail(Errc::bad_parameter, {},
                "option -map-by: PE=" + std::to_string(cores) +
                    " is the number of cores that -bind-to core binds to; "
                    "it does not go with -bind-to " +
                    word_for(bind.unit, bind.count));
  }
  if (!bind.said) bind.unit = words.map.cores_are_threads ? Unit::hwthread : Unit::core;
  bind.count = cores;
  return {};
}

}  // namespace starling::mpiexec

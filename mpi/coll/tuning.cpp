// SPDX-License-Identifier: BSD-3-Clause
/// @file  Reading coll_rules and the parameters that name one algorithm. docs/design/collectives.md

#include "mpi/coll/tuning.hpp"

#include <algorithm>
#include <string>

#include "mpi/coll/params.hpp"
#include "params/excerpt.hpp"
#include "params/registry.hpp"
#include "params/value.hpp"

namespace starling::mpi::coll {
namespace {

static_assert(kCollAlgorithms.size() == kCollectives,
              "one parameter per collective, in the order of Collective");

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "bcast" of coll_bcast_algorithm.
std::string_view name_of(std::size_t collective) {
  constexpr std::string_view kBefore = "coll_", kBehind = "_algorithm";
  std::string_view name = kCollAlgorithms[collective].name.view();
  name.remove_prefix(kBefore.size());
  name.remove_suffix(kBehind.size());
  return name;
}

Unexpected refused(std::string_view rule, const std::string& why) {
  return fail(Errc::bad_parameter, "coll_rules: \"" + params::excerpt(rule) + "\"", why);
}

bool reduces(Collective which) {
  return which == Collective::reduce || which == Collective::allreduce || which == Collective::reduce_scatter;
}

struct Range {
  std::uint64_t least = 0, most = std::numeric_limits<std::uint64_t>::max();
};

/// `4-64`, `4-`, `-64` or `4`.
Result<Range> parse_range(std::string_view text) {
  constexpr params::Decl kNumber =
      params::size_bytes("number", "0", 0, std::numeric_limits<std::int64_t>::max(), "one end of a range");
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  const Error wrong{Errc::bad_parameter, "", "expected a range like 4-64, 4-, -64 or 4 (suffixes k, m, g)"};
  if (low.empty() && high.empty()) return fail(wrong);
  Range range;
  for (const auto& [end, value] : {std::pair{low, &range.least}, std::pair{high, &range.most}}) {
    if (end.empty()) continue;
    const auto number = params::parse(kNumber, end);
    if (!number) return fail(wrong);
    *value = static_cast<std::uint64_t>(*number);
  }
  if (range.least > range.most) return fail(wrong);
  return range;
}

/// The rule with one more condition; an Error says only what was expected.
Result<Rule> with_condition(Rule rule, std::string_view condition) {
  if (condition == "commutative" || condition == "ordered") {
    if (!reduces(rule.collective)) {
      return fail(Errc::bad_parameter, "", "only reductions are commutative or ordered");
    }
    rule.order = condition == "ordered" ? Rule::Order::ordered : Rule::Order::commutative;
    return rule;
  }
  const std::size_t equals = condition.find('=');
  const std::string_view name = trimmed(condition.substr(0, equals));
  if (equals == std::string_view::npos || (name != "ranks" && name != "bytes")) {
    return fail(Errc::bad_parameter, "",
                "expected the conditions ranks=RANGE, bytes=RANGE, commutative or ordered");
  }
  const auto range = parse_range(trimmed(condition.substr(equals + 1)));
  if (!range) return fail(range.error());
  (name == "ranks" ? rule.least_ranks : rule.least_bytes) = range->least;
  (name == "ranks" ? rule.most_ranks : rule.most_bytes) = range->most;
  return rule;
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : "|") + std::string(name);
  return text;
}

Result<Rule> parse_rule(std::string_view written) {
  const std::vector<std::string_view> parts = split(written, ':');
  std::vector<std::string_view> collectives;
  for (std::size_t i = 0; i < kCollectives; ++i) collectives.push_back(name_of(i));
  const auto which = std::find(collectives.begin(), collectives.end(), parts[0]);
  if (which == collectives.end()) {
    return refused(written, "expected a collective: one of " + joined(collectives));
  }
  const auto index = static_cast<std::size_t>(which - collectives.begin());
  const std::vector<std::string_view> algorithms = params::choices_of(kCollAlgorithms[index]);
  const auto found = std::find(algorithms.begin(), algorithms.end(), parts.size() > 1 ? parts[1] : "");
  if (found == algorithms.end()) {
    return refused(written,
                   "expected an algorithm of " + std::string(*which) + ": one of " + joined(algorithms));
  }
  Rule rule;
  rule.collective = static_cast<Collective>(index);
  rule.algorithm = static_cast<std::uint8_t>(found - algorithms.begin());
  for (std::size_t i = 2; i < parts.size(); ++i) {
    auto more = with_condition(rule, parts[i]);
    if (!more) return refused(written, more.error().detail);
    rule = *more;
  }
  return rule;
}

}  // namespace

Result<std::vector<Rule>> parse_rules(std::string_view written) {
  std::vector<Rule> rules;
  if (trimmed(written).empty()) return rules;
  for (const std::string_view one : split(written, ',')) {
    auto rule = parse_rule(one);
    if (!rule) return fail(std::move(rule).error());
    rules.push_back(*rule);
  }
  return rules;
}

Result<Tuning> Tuning::from(const params::Registry& params) {
  Tuning tuning;
  auto rules = parse_rules(params.text(kCollRules));
  if (!rules) return fail(std::move(rules).error());
  tuning.rules = std::move(*rules);
  for (std::size_t i = 0; i < kCollectives; ++i) {
    tuning.forced[i] = static_cast<std::uint8_t>(params.integer(kCollAlgorithms[i]));
  }
  return tuning;
}

}  // namespace starling::mpi::coll

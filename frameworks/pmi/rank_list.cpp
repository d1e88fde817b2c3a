// SPDX-License-Identifier: BSD-3-Clause
// Ranks as text: lists and runs. What is hard: a short text must not cost much memory. Layer: framework.

#include "frameworks/pmi/rank_list.hpp"

#include <algorithm>
#include <charconv>

namespace starling::pmi {
namespace {

constexpr std::size_t kShortestRun = 3;  // of two the list is no longer

/// How many ranks from the first on have equal steps.
std::size_t run_of(std::span<const std::uint32_t> ranks) {
  std::size_t length = std::min<std::size_t>(ranks.size(), 2);
  while (length < ranks.size() && ranks[length] - ranks[length - 1] == ranks[1] - ranks[0]) ++length;
  return length;
}

struct Run {
  std::uint32_t first = 0, last = 0, step = 1;
};

/// Takes a number off the front.
bool take(std::string_view& text, std::uint32_t& into) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (wrong != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Run> read_run(std::string_view item) {
  Run run;
  if (!take(item, run.first)) return std::nullopt;
  run.last = run.first;
  if (take(item, '-')) {
    if (!take(item, run.last)) return std::nullopt;
    if (take(item, '/') && !take(item, run.step)) return std::nullopt;
  }
  if (!item.empty() || run.last < run.first || run.step == 0) return std::nullopt;
  return run;
}

}  // namespace

std::string rank_text(std::span<const std::uint32_t> ranks, RankForm form) {
  std::string text;
  for (std::size_t at = 0; at < ranks.size();) {
    if (at != 0) text += ',';
    text += std::to_string(ranks[at]);
    const std::size_t run = form == RankForm::runs ? run_of(ranks.subspan(at)) : 1;
    if (run < kShortestRun) {
      ++at;
      continue;
    }
    const std::uint32_t step = ranks[at + 1] - ranks[at];
    text += "-" + std::to_string(ranks[at + run - 1]);
    if (step != 1) text += "/" + std::to_string(step);
    at += run;
  }
  return text;
}

std::optional<std::vector<std::uint32_t>> read_ranks(std::string_view text, std::uint32_t size) {
  std::vector<std::uint32_t> ranks;
  std::uint64_t in_runs = 0;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const auto run = read_run(item);
    if (!run || run->last >= size) return std::nullopt;
    const std::uint64_t count = (run->last - run->first) / run->step + std::uint64_t{1};
    if (count > 1 && (in_runs += count) > size) return std::nullopt;
    for (std::uint64_t i = 0; i < count; ++i)
      ranks.push_back(run->first + static_cast<std::uint32_t>(i * run->step));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace starling::pmi

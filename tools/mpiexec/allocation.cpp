// SPDX-License-Identifier: BSD-3-Clause
// Variables of batch systems. Layer: tools.

#include "tools/mpiexec/allocation.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/text_file.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::size_t kMaxHosts = std::size_t{1} << 20;

std::uint32_t number_in(std::string_view text) {
  std::uint32_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && stop == text.data() + text.size() ? value : 0;
}

/// The words between any of `marks`.
std::vector<std::string_view> words_of(std::string_view text, std::string_view marks) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(marks));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

/// One more mention of a host, with its number of slots.
void add_host(std::vector<Host>& hosts, std::string_view name, std::uint32_t slots) {
  const auto same = [name](const Host& host) { return host.name == name; };
  const auto known = std::find_if(hosts.begin(), hosts.end(), same);
  if (known != hosts.end()) {
    known->slots += slots;
  } else {
    hosts.push_back({std::string(name), slots});
  }
}

/// A file with a host a line: several times, or with the slots as second word.
std::vector<Host> hosts_in_file(const char* path) {
  const std::string text = text_of_file(path);
  std::vector<Host> hosts;
  for (const std::string_view line : words_of(text, "\n")) {
    const auto words = words_of(line, " \t\r");
    if (words.empty()) continue;
    const std::uint32_t slots = words.size() > 1 ? number_in(words[1]) : 0;
    add_host(hosts, words[0], std::max(slots, 1u));
  }
  return hosts;
}
/// "host1 host1 host2"
std::vector<Host> hosts_in_list(const char* value) {
  std::vector<Host> hosts;
  for (const std::string_view name : words_of(value, " ")) add_host(hosts, name, 1);
  return hosts;
}
/// "host1 4 host2 4"
std::vector<Host> hosts_with_slots(const char* value) {
  std::vector<Host> hosts;
  const auto words = words_of(value, " ");
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    add_host(hosts, words[i], std::max(number_in(words[i + 1]), 1u));
  return hosts;
}

struct Source {
  const char* system;
  const char* variable;
  std::vector<Host> (*hosts)(const char* value);
  bool is_list;  ///< too long to be repeated
};
constexpr Source kSources[] = {
    {"PBS", "PBS_NODEFILE", &hosts_in_file, false}, {"LSF", "LSB_MCPU_HOSTS", &hosts_with_slots, true},
    {"LSF", "LSB_HOSTS", &hosts_in_list, true},     {"Grid Engine", "PE_HOSTFILE", &hosts_in_file, false},
    {"OAR", "OAR_NODEFILE", &hosts_in_file, false}, {"Cobalt", "COBALT_NODEFILE", &hosts_in_file, false},
};

std::string_view value_of(const pmi::Getenv& get, const char* name) {
  const char* const value = get(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// The smallest of "32(x2),16".
std::uint32_t fewest_processors(std::string_view text) {
  std::uint32_t fewest = 0;
  for (const std::string_view word : words_of(text, ",")) {
    const std::uint32_t count = number_in(word.substr(0, word.find('(')));
    if (count > 0 && (fewest == 0 || count < fewest)) fewest = count;
  }
  return fewest;
}

std::optional<Allocation> allocation_of_slurm(const pmi::Getenv& get) {
  const bool step = inside_step(get);
  const char* const counts[] = {step ? "SLURM_STEP_NUM_NODES" : "SLURM_JOB_NUM_NODES", "SLURM_NNODES"};
  for (const char* count : counts) {
    const std::uint32_t nodes = number_in(value_of(get, count));
    if (nodes == 1) return Allocation{};
    if (nodes < 2 || nodes > kMaxHosts) continue;
    Allocation found{"Slurm", std::string(count) + "=" + std::to_string(nodes), {}, 0, 0};
    for (const std::string& name :
         expand_node_list(value_of(get, step ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST")))
      found.hosts.push_back({name, 0});
    if (found.hosts.size() != nodes) found.hosts.assign(nodes, Host{});
    found.ranks = number_in(value_of(get, step ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS"));
    found.processors_per_node = fewest_processors(value_of(get, "SLURM_JOB_CPUS_PER_NODE"));
    return found;
  }
  return std::nullopt;
}

/// "0-2,07" between what stands before and behind it.
bool expand_ranges(std::string_view before, std::string_view ranges, std::string_view behind,
                   std::vector<std::string>& names) {
  const std::vector<std::string> ends =
      behind.empty() ? std::vector<std::string>{""} : expand_node_list(behind);
  for (const std::string_view range : words_of(ranges, ",")) {
    const std::string_view low = range.substr(0, range.find('-'));
    const std::string_view high = low.size() == range.size() ? low : range.substr(low.size() + 1);
    if (low.find_first_not_of("0123456789") != low.npos || high.find_first_not_of("0123456789") != high.npos)
      return false;
    const std::uint32_t last = number_in(high);
    for (std::uint32_t number = number_in(low); number <= last; ++number) {
      std::string text = std::to_string(number);
      text.insert(0, text.size() < low.size() ? low.size() - text.size() : 0, '0');
      for (const std::string& end : ends) names.push_back(std::string(before).append(text).append(end));
      if (names.size() > kMaxHosts) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> expand_node_list(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    int depth = 0;
    std::size_t end = 0;
    for (; end < text.size() && (text[end] != ',' || depth > 0); ++end)
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::size_t open = item.find('[');
    const std::size_t close = item.find(']');
    if (depth != 0) return {};
    if (open == item.npos) {
      names.emplace_back(item);
    } else if (!expand_ranges(item.substr(0, open), item.substr(open + 1, close - open - 1),
                              item.substr(close + 1), names)) {
      return {};
    }
  }
  return names;
}

std::optional<Allocation> allocation_of_several_nodes(const pmi::Getenv& get) {
  if (auto slurm = allocation_of_slurm(get))
    return slurm->hosts.empty() ? std::nullopt : std::optional(std::move(*slurm));
  for (const Source& source : kSources) {
    const std::string_view value = value_of(get, source.variable);
    if (value.empty()) continue;
    std::vector<Host> hosts = source.hosts(get(source.variable));
    if (hosts.size() == 1) return std::nullopt;
    if (hosts.empty()) continue;
    std::string said = source.variable;
    if (!source.is_list) said.append("=").append(value);
    std::uint32_t ranks = 0;
    for (const Host& host : hosts) ranks += host.slots;
    return Allocation{source.system, std::move(said), std::move(hosts), ranks, 0};
  }
  return std::nullopt;
}

bool inside_step(const pmi::Getenv& get) {
  constexpr std::uint32_t kFirstSpecialStep = 0xfffffff0;
  const std::string_view step = value_of(get, "SLURM_STEP_ID");
  return !step.empty() && (step == "0" || (number_in(step) > 0 && number_in(step) < kFirstSpecialStep));
}

std::optional<std::string> inside_a_rank(const pmi::Getenv& get) {
  for (const char* name : {"PMI_RANK", "PMI_ID", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", pmi::kRankMark}) {
    if (pmi::is_set(get, name)) return std::string(name) + " is set";
  }
  const std::string_view tasks = value_of(get, "SLURM_STEP_NUM_TASKS");
  if (inside_step(get) && number_in(tasks) > 1) return "SLURM_STEP_NUM_TASKS=" + std::string(tasks);
  return std::nullopt;
}

}  // namespace starling::mpiexec

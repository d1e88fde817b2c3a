// SPDX-License-Identifier: BSD-3-Clause
// Variables of batch systems. Layer: tools.

#include "tools/mpiexec/allocation.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "core/text_file.hpp"

namespace starling::mpiexec {
namespace {

std::uint32_t number_in(std::string_view text) {
  std::uint32_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && stop == text.data() + text.size() ? value : 0;
}

/// Splits at any of `marks` and gives the first `every`-th words: 1 all of them, 2 each second one.
std::set<std::string_view> different_words(std::string_view text, std::string_view marks, int every) {
  std::set<std::string_view> words;
  for (int number = 0; !text.empty();) {
    const std::string_view word = text.substr(0, text.find_first_of(marks));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty() && number++ % every == 0) words.insert(word);
  }
  return words;
}

/// Hosts of a file with one a line, several times or not, with more words behind or not.
std::uint32_t hosts_in_file(const char* path) {
  const std::string text = text_of_file(path);
  std::set<std::string_view> hosts;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.empty()) hosts.insert(line.substr(0, line.find_first_of(" \t")));
  }
  return static_cast<std::uint32_t>(hosts.size());
}

std::uint32_t by_number(const char* value) { return number_in(value); }
std::uint32_t by_list(const char* value) {
  return static_cast<std::uint32_t>(different_words(value, " ", 1).size());
}
/// "host1 4 host2 4"
std::uint32_t by_list_with_slots(const char* value) {
  return static_cast<std::uint32_t>(different_words(value, " ", 2).size());
}

struct Source {
  const char* system;
  const char* variable;
  std::uint32_t (*nodes)(const char* value);
  bool is_list;  ///< too long to be repeated
  const char* instead;
};

// Of one system the variable that is nearest to this process comes first: in a step of srun the number is
// that of the step's nodes.
constexpr Source kSources[] = {
    {"Slurm", "SLURM_JOB_NUM_NODES", &by_number, false, "srun --mpi=pmi2 -n "},
    {"Slurm", "SLURM_NNODES", &by_number, false, "srun --mpi=pmi2 -n "},
    {"PBS", "PBS_NODEFILE", &hosts_in_file, false, "mpiexec.hydra -f $PBS_NODEFILE -n "},
    {"LSF", "LSB_MCPU_HOSTS", &by_list_with_slots, true, "mpiexec.hydra -n "},
    {"LSF", "LSB_HOSTS", &by_list, true, "mpiexec.hydra -n "},
    {"Grid Engine", "PE_HOSTFILE", &hosts_in_file, false, "mpiexec.hydra -n "},
    {"OAR", "OAR_NODEFILE", &hosts_in_file, false, "mpiexec.hydra -f $OAR_NODEFILE -n "},
    {"Cobalt", "COBALT_NODEFILE", &hosts_in_file, false, "mpiexec.hydra -f $COBALT_NODEFILE -n "},
};

}  // namespace

std::optional<Allocation> allocation_of_several_nodes(Getenv get) {
  for (const Source& source : kSources) {
    const char* const value = get(source.variable);
    if (value == nullptr || *value == '\0') continue;
    const std::uint32_t nodes = source.nodes(value);
    if (nodes == 1) return std::nullopt;
    if (nodes == 0) continue;
    std::string said = source.variable;
    if (!source.is_list) said.append("=").append(value);
    return Allocation{source.system, std::move(said), nodes, source.instead};
  }
  return std::nullopt;
}

std::string describe(const Allocation& allocation, std::uint32_t ranks, const std::string& host) {
  const std::string count = std::to_string(ranks);
  return "mpiexec: warning: " + allocation.system + " has given " + std::to_string(allocation.nodes) +
         " nodes (" + allocation.said_by + "), but this mpiexec starts all " + count + " ranks on one, " +
         host + "; on all nodes: `" + allocation.instead + count +
         " PROGRAM`; if one is meant, say so: `-host localhost` (docs/process-managers.md)";
}

}  // namespace starling::mpiexec

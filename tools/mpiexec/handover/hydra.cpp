// SPDX-License-Identifier: BSD-3-Clause
// The command line of Hydra's mpiexec. Layer: tools.
//
// Hard here: Hydra takes hosts in blocks, or one rank on each in turn; nothing else can be said.

#include <optional>

#include "tools/mpiexec/handover/command.hpp"

namespace starling::mpiexec {
namespace {

/// "a:4,b:2", if the ranks of each host follow each other.
std::optional<std::string> as_blocks(const Request& request) {
  std::vector<bool> seen(request.hosts.size());
  std::string list;
  for (std::size_t rank = 0; rank < request.host_of.size();) {
    const std::uint32_t host = request.host_of[rank];
    if (seen[host]) return std::nullopt;
    seen[host] = true;
    std::size_t count = 0;
    for (; rank < request.host_of.size() && request.host_of[rank] == host; ++rank) ++count;
    list.append(list.empty() ? "" : ",").append(request.hosts[host].name + ":" + std::to_string(count));
  }
  return list;
}

/// "a,b" for -ppn 1, if the hosts have their turns evenly.
std::optional<std::string> in_turn(const Request& request) {
  const std::size_t hosts = load_of(request).hosts;
  std::string list;
  for (std::size_t rank = 0; rank < request.host_of.size(); ++rank) {
    if (request.host_of[rank] != request.host_of[rank % hosts]) return std::nullopt;
    if (rank < hosts) list.append(rank == 0 ? "" : ",").append(request.hosts[request.host_of[rank]].name);
  }
  return list;
}

std::string hydra_pattern(const Request& request, const std::string& pattern) {
  std::string text;
  each_part(
      request, pattern, [&](const std::string& literal) { text.append(literal); }, [&] { text.append("%r"); },
      [&] { text.append("%h"); });
  return text;
}

Result<void> add_hydra_places(const Request& request, std::vector<std::string>& words) {
  if (request.hosts.empty()) return {};
  if (const auto blocks = as_blocks(request)) {
    words.insert(words.end(), {"-hosts", *blocks});
    return {};
  }
  const auto turns = in_turn(request);
  if (!turns) {
    return fail(
        Errc::bad_parameter, kWhere,
        "option -map-by node with hosts of different numbers of slots cannot be told to Hydra; give all "
        "hosts the same number, or none");
  }
  words.insert(words.end(), {"-hosts", *turns, "-ppn", "1"});
  return {};
}

}  // namespace

Result<std::vector<std::string>> words_for_hydra(const Request& request) {
  const Options& options = request.options;
  if (options.pmix) {
    return fail(Errc::bad_parameter, kWhere,
                "option -pmi pmix: Hydra serves PMI alone; -launcher slurm, prrte or openmpi serves PMIx");
  }
  std::vector<std::string> words;
  const auto add = [&words](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (!request.choice.hydra_launcher.empty()) add({"-launcher", request.choice.hydra_launcher});
  if (!options.launcher_exec.empty()) add({"-launcher-exec", options.launcher_exec});
  if (!options.iface.empty()) add({"-iface", options.iface});
  if (auto done = add_hydra_places(request, words); !done) return fail(std::move(done).error());
  const PlacementWords& place = options.place;
  if (place.bind.unit != Unit::none) {
    add({"-bind-to", word_for(place.bind.unit, place.bind.count)});
    if (place.map.unit != Unit::none) add({"-map-by", word_for(place.map.unit, place.map.count)});
  }
  if (!options.label_pattern.empty()) {
    add({"-prepend-pattern", options.label_pattern});
  } else if (options.labels) {
    add({"-prepend-rank"});
  }
  if (options.exit_codes) add({"-print-all-exitcodes"});
  if (options.universe) add({"-usize", std::to_string(*options.universe)});
  if (!options.out_pattern.empty()) add({"-outfile-pattern", hydra_pattern(request, options.out_pattern)});
  if (!options.err_pattern.empty()) add({"-errfile-pattern", hydra_pattern(request, options.err_pattern)});
  if (options.keep_job) add({"-disable-auto-cleanup"});
  add({"-genvall"});
  for (std::size_t i = 0; i < options.programs.size(); ++i) {
    const Program& program = options.programs[i];
    if (i > 0) add({":"});
    add({"-n", std::to_string(request.ranks[i]), "-wdir", directory_of(request, program)});
    for (const auto& [name, value] : program.env) add({"-env", name, value});
    words.insert(words.end(), program.argv.begin(), program.argv.end());
  }
  return words;
}

}  // namespace starling::mpiexec

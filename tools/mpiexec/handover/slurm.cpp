// SPDX-License-Identifier: BSD-3-Clause
// The command line of srun. Layer: tools.
//
// Hard here: srun knows one program and one environment. Several programs become one shell command that
// looks at the task's number; so do their own working directories.

#include <numeric>
#include <optional>

#include "tools/mpiexec/handover/command.hpp"
#include "tools/mpiexec/handover/shell_words.hpp"

namespace starling::mpiexec {
namespace {

const char* slurm_binding(Unit unit) {
  return unit == Unit::hwthread ? "threads"
         : unit == Unit::core   ? "cores"
         : unit == Unit::numa   ? "ldoms"
         : unit == Unit::socket ? "sockets"
                                : "none";
}

std::string slurm_pattern(const Request& request, const std::string& pattern) {
  std::string text;
  each_part(
      request, pattern, [&](const std::string& literal) { text.append(literal == "%" ? "%%" : literal); },
      [&] { text.append("%t"); }, [&] { text.append("%N"); });
  return text;
}

std::string script_of(const Request& request) {
  const std::vector<Program>& programs = request.options.programs;
  std::string script;
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    end += request.ranks[i];
    const bool last = i + 1 == programs.size();
    if (!last) script += "if [ \"$SLURM_PROCID\" -lt " + std::to_string(end) + " ]; then ";
    script +=
        "cd " + quoted(directory_of(request, programs[i])) + " && exec " + joined(program_words(programs[i]));
    if (!last) script += "; else ";
  }
  for (std::size_t i = 1; i < programs.size(); ++i) script += "; fi";
  return script;
}

/// Of the list that names a host for each rank; none: the nodes have no names.
std::optional<std::size_t> length_of_host_list(const Request& request) {
  if (request.hosts[0].name.empty()) return std::nullopt;
  std::size_t length = request.host_of.size();
  for (const std::uint32_t host : request.host_of) length += request.hosts[host].name.size();
  return length;
}

Result<void> add_slurm_places(const Request& request, std::vector<std::string>& words) {
  if (request.hosts.empty()) {
    if (request.options.place.per_node > 0)
      words.push_back("--ntasks-per-node=" + std::to_string(request.options.place.per_node));
    return {};
  }
  const Load load = load_of(request);
  words.push_back("--nodes=" + std::to_string(load.hosts));
  // By itself srun places ranks by the processors that each node has given, so each rank's host is named.
  // In an allocation it may do as it likes where that is too long.
  const std::optional<std::size_t> length = length_of_host_list(request);
  if (request.hosts_named || (length && *length <= kWordMax)) {
    auto list = host_list(request, 0, request.host_of.size());
    if (!list) return fail(std::move(list).error());
    words.push_back("--distribution=arbitrary");
    words.push_back("--nodelist=" + *list);
  } else {
    words.push_back("--ntasks-per-node=" + std::to_string(load.most));
    const bool in_turn = request.options.place.nodes_in_turn;
    words.push_back(std::string("--distribution=") + (in_turn ? "cyclic" : "block"));
  }
  if (request.processors_per_node > 0 && load.most > request.processors_per_node)
    words.emplace_back("--overcommit");
  return {};
}

}  // namespace

Result<std::vector<std::string>> words_for_slurm(const Request& request) {
  const Options& options = request.options;
  if (!options.launcher_exec.empty()) {
    return fail(Errc::bad_parameter, kWhere,
                "option -launcher-exec has no meaning for Slurm, which has its own daemons on the nodes "
                "(-launcher hydra takes it)");
  }
  std::vector<std::string> words;
  if (!request.slurm_mpi.empty()) words.push_back("--mpi=" + request.slurm_mpi);
  const std::uint64_t ranks = std::accumulate(request.ranks.begin(), request.ranks.end(), std::uint64_t{0});
  words.push_back("--ntasks=" + std::to_string(ranks));
  if (auto done = add_slurm_places(request, words); !done) return fail(std::move(done).error());
  if (request.inside_step) words.emplace_back("--overlap");
  // Batch scripts may have been told to hand on nothing.
  words.emplace_back("--export=ALL");
  words.push_back("--input=" + input_word(options.input));  // by itself srun gives all of them a copy
  words.emplace_back("--quit-on-interrupt");
  words.push_back(std::string("--kill-on-bad-exit=") + (options.keep_job ? "0" : "1"));
  if (options.place.bind.said)
    words.push_back(std::string("--cpu-bind=") + slurm_binding(options.place.bind.unit));
  if (options.labels) words.emplace_back("--label");
  if (!options.out_pattern.empty())
    words.push_back("--output=" + slurm_pattern(request, options.out_pattern));
  if (!options.err_pattern.empty()) words.push_back("--error=" + slurm_pattern(request, options.err_pattern));
  std::vector<std::string> program;
  if (options.programs.size() == 1) {
    words.push_back("--chdir=" + directory_of(request, options.programs[0]));
    program = program_words(options.programs[0]);
  } else {
    words.push_back("--chdir=" + request.directory);
    program = {"/bin/sh", "-c", script_of(request)};
  }
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

}  // namespace starling::mpiexec

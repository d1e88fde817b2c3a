// SPDX-License-Identifier: BSD-3-Clause
// What the command lines of all engines have in common. Layer: tools.

#include "tools/mpiexec/handover/command.hpp"

#include <algorithm>

namespace starling::mpiexec {
namespace {

Result<void> check(const Request& request) {
  const Options& options = request.options;
  if (options.virtual_nodes > 1) {
    return fail(
        Errc::bad_parameter, kWhere,
        "option -virtual-nodes pretends that one machine is several; it goes with no other host and no "
        "other launcher (-host localhost, or -launcher local)");
  }
  return {};
}

}  // namespace

std::string absolute(const Request& request, const std::string& path) {
  return path.empty() || path[0] == '/' ? path : request.directory + "/" + path;
}

std::string directory_of(const Request& request, const Program& program) {
  const std::string& named = program.wdir.empty() ? request.options.wdir : program.wdir;
  return named.empty() ? request.directory : absolute(request, named);
}

Load load_of(const Request& request) {
  std::vector<std::uint32_t> on(request.hosts.size());
  Load load;
  for (const std::uint32_t host : request.host_of) {
    load.hosts += on[host] == 0 ? 1 : 0;
    load.most = std::max(load.most, ++on[host]);
  }
  return load;
}

std::vector<std::string> program_words(const Program& program) {
  std::vector<std::string> words;
  if (!program.env.empty()) words.emplace_back("env");
  for (const auto& [name, value] : program.env) words.push_back(name + "=" + value);
  words.insert(words.end(), program.argv.begin(), program.argv.end());
  return words;
}

Result<std::string> host_list(const Request& request, std::size_t first, std::size_t count) {
  std::string list;
  for (std::size_t rank = first; rank < first + count; ++rank)
    list.append(rank == first ? "" : ",").append(request.hosts[request.host_of[rank]].name);
  if (list.size() > kWordMax) {
    return fail(Errc::bad_parameter, kWhere,
                "the list of hosts for " + std::to_string(count) + " ranks is " +
                    std::to_string(list.size()) +
                    " characters long, more than a command line takes; -launcher hydra writes a host once");
  }
  return list;
}

Result<std::vector<std::string>> words_for(Engine engine, const Request& request) {
  if (auto done = check(request); !done) return fail(std::move(done).error());
  switch (engine) {
    case Engine::slurm: return words_for_slurm(request);
    case Engine::prrte:
    case Engine::openmpi: return words_for_openmpi(request, engine);
    case Engine::hydra: return words_for_hydra(request);
  }
  return std::vector<std::string>{};
}

}  // namespace starling::mpiexec

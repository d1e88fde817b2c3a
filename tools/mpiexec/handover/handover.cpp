// SPDX-License-Identifier: BSD-3-Clause
// The way from a command line to an engine. Layer: tools.

#include "tools/mpiexec/handover/handover.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "core/unique_fd.hpp"
#include "tools/mpiexec/handover/command.hpp"
#include "tools/mpiexec/handover/engine_environment.hpp"
#include "tools/mpiexec/handover/shell_words.hpp"
#include "tools/mpiexec/handover/slurm_mpi.hpp"
#include "tools/mpiexec/handover/spread.hpp"
#include "tools/mpiexec/handover/supervise.hpp"
#include "tools/mpiexec/placement.hpp"

extern char** environ;

namespace starling::mpiexec {
namespace {

using Kind = LauncherChoice::Kind;

/// One rank runs on one node anyway.
bool surely_one_rank(const Options& options) {
  return options.programs.size() == 1 && options.programs[0].ranks == 1u;
}

bool any_elsewhere(const std::vector<Host>& hosts) {
  return std::any_of(hosts.begin(), hosts.end(),
                     [](const Host& host) { return !is_this_machine(host.name); });
}

std::string note_of_staying(const Allocation& nodes, const std::string& reason) {
  return "mpiexec: warning: " + nodes.system + " has given " + std::to_string(nodes.hosts.size()) +
         " nodes (" + nodes.said_by + "), but this mpiexec starts all its ranks on one, " + host_name() +
         ", since it is inside a rank of another job (" + reason +
         "); -launcher slurm, openmpi or hydra uses all nodes; if one is meant, say so: -host localhost";
}

Result<Request> request_for(const Options& options, const Whereabouts& where, const FoundEngine& found,
                            const std::string& job) {
  Request request;
  request.options = options;
  request.choice = where.choice;
  request.job = job;
  request.root = ::geteuid() == 0;
  std::error_code error;
  request.directory = std::filesystem::current_path(error).string();
  if (error) return fail(Errc::system, kWhere, "the working directory cannot be found: " + error.message());
  request.hosts_named = !where.hosts.empty();
  std::uint32_t slots = 0;
  if (request.hosts_named) {
    request.hosts = where.hosts;
    for (Host& host : request.hosts) {
      slots += std::max(host.slots, 1u);
      // Elsewhere that name means another machine.
      if (host.name == "localhost" || host.name == "127.0.0.1" || host.name == "::1") host.name = host_name();
    }
  } else if (where.nodes) {
    request.hosts = where.nodes->hosts;
    request.processors_per_node = where.nodes->processors_per_node;
    slots = where.nodes->ranks > 0 ? where.nodes->ranks : static_cast<std::uint32_t>(request.hosts.size());
    if (found.engine != Engine::slurm && request.hosts[0].name.empty()) {
      return fail(Errc::bad_input, kWhere,
                  where.nodes->system + " has given " + std::to_string(request.hosts.size()) +
                      " nodes, but their names cannot be read; -hosts names them");
    }
  }
  const std::uint64_t unsaid =
      ranks_if_unsaid(options, slots, std::max<std::size_t>(request.hosts.size(), 1));
  request.ranks =
      ranks_of_programs(options, static_cast<std::uint32_t>(std::min<std::uint64_t>(unsaid, UINT32_MAX)));
  const std::uint64_t ranks = std::accumulate(request.ranks.begin(), request.ranks.end(), std::uint64_t{0});
  if (auto done = check_input(options.input, ranks); !done) return fail(std::move(done).error());
  if (request.hosts.empty()) return request;
  if (ranks > kMaxRanks) {
    return fail(Errc::bad_parameter, kWhere,
                std::to_string(ranks) + " ranks; at most " + std::to_string(kMaxRanks) + " are possible");
  }
  auto host_of = spread(options, request.hosts, static_cast<std::uint32_t>(ranks));
  if (!host_of) return fail(std::move(host_of).error());
  request.host_of = std::move(*host_of);
  return request;
}

/// A file that all ranks append to begins empty; engines that redirect by a shell cannot see to that.
Result<void> empty_shared_files(const Request& request) {
  for (const std::string* pattern : {&request.options.out_pattern, &request.options.err_pattern}) {
    std::string path;
    bool shared = !pattern->empty();
    each_part(
        request, *pattern, [&](const std::string& text) { path += text; }, [&] { shared = false; },
        [&] { shared = false; });
    if (!shared) continue;
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) return fail(system_error(kWhere, "cannot write the output file " + path, errno));
  }
  return {};
}

}  // namespace

Result<Whereabouts> whereabouts(const Options& options, const pmi::Getenv& get) {
  auto choice = read_launcher(options.launcher);
  if (!choice) return fail(std::move(choice).error());
  auto hosts = read_hosts(options.hosts);
  if (!hosts) return fail(std::move(hosts).error());
  Whereabouts where;
  where.choice = std::move(*choice);
  if (where.choice.kind == Kind::here) return where;
  where.hosts = std::move(*hosts);
  if (!where.hosts.empty()) {
    where.here = where.choice.kind == Kind::any && !any_elsewhere(where.hosts);
    return where;
  }
  if (where.choice.kind == Kind::any && (options.virtual_nodes > 1 || surely_one_rank(options))) return where;
  where.nodes = allocation_of_several_nodes(get);
  if (where.choice.kind == Kind::engine) {
    where.here = false;
    return where;
  }
  if (!where.nodes) return where;
  const auto reason = inside_a_rank(get);
  if (reason) where.note = note_of_staying(*where.nodes, *reason);
  where.here = reason.has_value();
  return where;
}

Result<int> hand_over(const Options& options, const Whereabouts& where, const Surroundings& surroundings,
                      const std::string& job) {
  auto found = find_engine(where.choice, surroundings);
  if (!found) return fail(std::move(found).error());
  auto request = request_for(options, where, *found, job);
  if (!request) return fail(std::move(request).error());
  EngineEnvironment environment(environ, options.env, found->engine, !request->hosts.empty());
  if (found->engine == Engine::slurm) {
    request->inside_step = inside_step(surroundings.get);
    request->slurm_mpi = options.pmix ? "pmix" : slurm_mpi(found->path, surroundings);
  }
  request->variables = environment.names_to_hand_on();
  auto words = words_for(found->engine, *request);
  if (!words) return fail(std::move(words).error());
  for (std::size_t rank = 0; options.place.show && rank < request->host_of.size(); ++rank) {
    const std::string& host = request->hosts[request->host_of[rank]].name;
    if (!host.empty()) std::fprintf(stderr, "mpiexec: rank %zu on %s\n", rank, host.c_str());
  }
  const bool by_shell = found->engine == Engine::prrte || found->engine == Engine::openmpi;
  if (by_shell) {
    if (auto done = empty_shared_files(*request); !done) return fail(std::move(done).error());
  }
  if (options.verbose) {
    std::vector<std::string> shown{found->path};
    shown.insert(shown.end(), words->begin(), words->end());
    std::fprintf(stderr, "mpiexec: handed over to %.*s: %s\n",
                 static_cast<int>(name_of(found->engine).size()), name_of(found->engine).data(),
                 joined(shown).c_str());
  }
  return supervise(
      {found->path, name_of(found->engine), std::move(*words), environment.block(), options.timeout_s});
}

}  // namespace starling::mpiexec

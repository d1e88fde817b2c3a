// SPDX-License-Identifier: BSD-3-Clause
// What the command lines of all engines have in common. Layer: tools.

#include "tools/mpiexec/handover/command.hpp"

#include <algorithm>

namespace starling::mpiexec {
namespace {

/// Whether an engine has words for that binding. srun and mpirun are told each rank's host, and then take no
/// more than a kind of object.
bool can_bind(Engine engine, const PlacementWords& place) {
  const Unit unit = place.bind.unit;
  if (unit == Unit::none) return true;
  const bool plain = !place.map.ranking_said && place.map.per_unit == 0;
  if (engine == Engine::hydra) return plain;
  const bool usual =
      unit == Unit::hwthread || unit == Unit::core || unit == Unit::numa || unit == Unit::socket;
  const bool cache = unit == Unit::l1cache || unit == Unit::l2cache || unit == Unit::l3cache;
  const bool as_bound = place.map.unit == Unit::none || place.map.unit == unit;
  return plain && place.bind.count == 1 && as_bound && place.map.count == 1 &&
         (usual || (cache && engine != Engine::slurm));
}

Result<void> check_places(Engine engine, const PlacementWords& place) {
  const auto refuse = [](std::string text) { return fail(Errc::bad_parameter, kWhere, std::move(text)); };
  if (place.map.per_unit > 0) {
    return refuse(
        "option -map-by ppr:" + std::to_string(place.map.per_unit) + ":" + word_for(place.map.unit) +
        ": how many of these the other hosts have is not known; -map-by ppr:N:node or -ppn N says it");
  }
  if (place.map.over_all_hosts)
    return refuse(
        "option -map-by: SPAN has no meaning with several hosts here; -map-by node gives them in turn");
  if (can_bind(engine, place)) return {};
  return refuse(
      "option -bind-to " + word_for(place.bind.unit, place.bind.count) +
      (place.map.unit == Unit::none ? "" : " with -map-by " + word_for(place.map.unit, place.map.count)) +
      (place.map.ranking_said ? " and -rank-by" : "") + " cannot be told to " + std::string(name_of(engine)) +
      (engine == Engine::hydra ? "; leave -rank-by out" : "; -launcher hydra takes -bind-to and -map-by"));
}

/// Options that only some engines have a word for.
Result<void> check_abilities(Engine engine, const Options& options) {
  const bool other_reader = options.input.all || options.input.rank != 0u;
  struct Ability {
    bool asked;
    const char* option;
    const char* able;  ///< who is
  };
  constexpr char kOpenMpi[] = "prrte and openmpi", kHydra[] = "hydra";
  for (const Ability& each : {Ability{options.times, "-timestamp-output", kOpenMpi},
                              Ability{options.merge, "-merge-stderr-to-stdout", kOpenMpi},
                              Ability{!options.label_pattern.empty(), "-prepend-pattern", kHydra},
                              Ability{options.exit_codes, "-print-all-exitcodes", kHydra},
                              Ability{options.universe.has_value(), "-usize", kHydra},
                              Ability{other_reader, "-stdin", "slurm, prrte and openmpi"}}) {
    const bool of_openmpi = engine == Engine::prrte || engine == Engine::openmpi;
    const bool able = each.able == kHydra     ? engine == Engine::hydra
                      : each.able == kOpenMpi ? of_openmpi
                                              : engine != Engine::hydra;
    if (!each.asked || able) continue;
    return fail(Errc::bad_parameter, kWhere,
                std::string("option ") + each.option + " cannot be told to " + std::string(name_of(engine)) +
                    "; with several hosts -launcher " + each.able + " can");
  }
  return {};
}

Result<void> check(Engine engine, const Request& request) {
  const Options& options = request.options;
  if (options.virtual_nodes > 1) {
    return fail(
        Errc::bad_parameter, kWhere,
        "option -virtual-nodes pretends that one machine is several; it goes with no other host and no "
        "other launcher (-host localhost, or -launcher local)");
  }
  if (auto done = check_abilities(engine, options); !done) return done;
  return check_places(engine, options.place);
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

std::string input_word(const InputTo& input) {
  return input.all ? "all" : input.rank ? std::to_string(*input.rank) : "none";
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
  if (auto done = check(engine, request); !done) return fail(std::move(done).error());
  switch (engine) {
    case Engine::slurm: return words_for_slurm(request);
    case Engine::prrte:
    case Engine::openmpi: return words_for_openmpi(request, engine);
    case Engine::hydra: return words_for_hydra(request);
  }
  return std::vector<std::string>{};
}

}  // namespace starling::mpiexec

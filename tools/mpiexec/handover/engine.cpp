// SPDX-License-Identifier: BSD-3-Clause
// Looking for a launcher. Layer: tools.

#include "tools/mpiexec/handover/engine.hpp"

#include "params/excerpt.hpp"
#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/spawn.hpp"

namespace starling::mpiexec {
namespace {

struct Known {
  Engine engine;
  std::string_view name;
  const char* programs[2];  ///< "mpirun" alone may be anybody's, also our own
  std::string_view packages;
  bool needs_pmix;
};
constexpr Known kKnown[] = {
    {Engine::slurm, "Slurm", {"srun", nullptr}, "slurm-client", false},
    {Engine::prrte, "PRRTE", {"prterun", nullptr}, "prrte, or openmpi-bin from version 5 on", true},
    {Engine::openmpi, "Open MPI's mpirun", {"mpirun.openmpi", "orterun"}, "openmpi-bin", true},
    {Engine::hydra, "Hydra", {"mpiexec.hydra", nullptr}, "mpich", false},
};

const Known& known(Engine engine) noexcept { return kKnown[static_cast<std::size_t>(engine)]; }

std::optional<std::string> find(Engine engine, const pmi::Getenv& get) {
  const char* const path = get("PATH");
  for (const char* program : known(engine).programs) {
    if (program == nullptr) continue;
    if (auto found = find_program(program, path == nullptr ? "" : path, ""); found) return std::move(*found);
  }
  return std::nullopt;
}

/// Why it is not taken unless it is asked for; null: it is.
const char* why_not(Engine engine, const Surroundings& surroundings) {
  if (engine == Engine::slurm && !pmi::is_set(surroundings.get, "SLURM_JOB_ID"))
    return "not inside an allocation (salloc, sbatch)";
  if (known(engine).needs_pmix && !surroundings.pmix) return "pmi/pmix is not built or excluded";
  return nullptr;
}

Unexpected none_found(const Surroundings& surroundings) {
  std::string text = "several hosts need a launcher, and none can be used here:";
  for (const Known& each : kKnown) {
    const char* const reason = why_not(each.engine, surroundings);
    const bool found = find(each.engine, surroundings.get).has_value();
    text.append(" ").append(each.programs[0]).append(" (");
    if (found && reason != nullptr) {
      text.append(reason);
    } else {
      text.append("not in PATH; package ").append(each.packages);
    }
    text.append(each.engine == Engine::hydra ? ")" : "),");
  }
  return fail(Errc::not_found, kWhere, text + "; -host localhost starts all ranks on this machine");
}

}  // namespace

std::string_view name_of(Engine engine) noexcept { return known(engine).name; }

Result<LauncherChoice> read_launcher(const std::string& word) {
  using Kind = LauncherChoice::Kind;
  if (word.empty() || word == "auto") return LauncherChoice{};
  // "fork" is how Hydra calls starting processes on its own machine.
  if (word == "local" || word == "fork") return LauncherChoice{Kind::here, Engine::slurm, ""};
  constexpr std::pair<std::string_view, Engine> kWords[] = {
      {"slurm", Engine::slurm},     {"srun", Engine::slurm},      {"prrte", Engine::prrte},
      {"prterun", Engine::prrte},   {"openmpi", Engine::openmpi}, {"mpirun", Engine::openmpi},
      {"orterun", Engine::openmpi}, {"hydra", Engine::hydra},     {"mpiexec.hydra", Engine::hydra}};
  for (const auto& [name, engine] : kWords) {
    if (word == name) return LauncherChoice{Kind::engine, engine, ""};
  }
  for (const std::string_view way : {"ssh", "rsh", "lsf", "sge", "pbs", "ll", "cobalt", "manual"}) {
    if (word == way) return LauncherChoice{Kind::engine, Engine::hydra, word};
  }
  return fail(
      Errc::bad_parameter, kWhere,
      "option -launcher: \"" + params::excerpt(word) +
          "\" is none of auto, local, slurm, prrte, openmpi, hydra, nor a way in which Hydra starts its "
          "processes (ssh, rsh, lsf, sge, pbs, ll, cobalt, manual)");
}

Result<FoundEngine> find_engine(const LauncherChoice& choice, const Surroundings& surroundings) {
  if (choice.kind == LauncherChoice::Kind::engine) {
    if (auto path = find(choice.engine, surroundings.get))
      return FoundEngine{choice.engine, std::move(*path)};
    const Known& wanted = known(choice.engine);
    std::string text =
        "option -launcher: " + std::string(wanted.name) + " is not here: " + wanted.programs[0];
    if (wanted.programs[1] != nullptr) text.append(" or ").append(wanted.programs[1]);
    return fail(Errc::not_found, kWhere,
                text + " is not in PATH (package " + std::string(wanted.packages) + ")");
  }
  for (const Engine engine : kEngines) {
    if (why_not(engine, surroundings) != nullptr) continue;
    if (auto path = find(engine, surroundings.get)) return FoundEngine{engine, std::move(*path)};
  }
  return none_found(surroundings);
}

}  // namespace starling::mpiexec

// SPDX-License-Identifier: BSD-3-Clause
// Variables of engines. Layer: tools.

#include "tools/mpiexec/handover/engine_environment.hpp"

#include <algorithm>
#include <string_view>

namespace starling::mpiexec {
namespace {

bool begins(std::string_view name, std::string_view with) { return name.substr(0, with.size()) == with; }

std::string_view name_in(std::string_view variable) { return variable.substr(0, variable.find('=')); }

/// What Open MPI's mpirun, or PRRTE, tells its ranks about itself; another of them would obey it.
bool is_of_an_outer_mpirun(std::string_view name) {
  for (const std::string_view prefix : {"OMPI_MCA_orte_", "OMPI_MCA_ess", "PRTE_MCA_ess", "PRTE_LAUNCHED"}) {
    if (begins(name, prefix)) return true;
  }
  for (const std::string_view exact :
       {"OMPI_MCA_plm", "OMPI_MCA_routed", "OMPI_UNIVERSE_SIZE", "OMPI_FIRST_RANKS", "OMPI_NUM_APP_CTX",
        "OMPI_APP_CTX_NUM_PROCS", "OMPI_FILE_LOCATION", "OMPI_COMMAND", "OMPI_ARGV",
        "OMPI_MCA_initial_wdir"}) {
    if (name == exact) return true;
  }
  return false;
}

/// What srun takes instead of options that mpiexec does not give it.
bool overrules_srun(std::string_view name) {
  for (const std::string_view exact :
       {"SLURM_NTASKS_PER_NODE", "SLURM_DISTRIBUTION", "SLURM_HOSTFILE", "SLURM_NTASKS_PER_CORE",
        "SLURM_NTASKS_PER_SOCKET", "SLURM_ARBITRARY_NODELIST"}) {
    if (name == exact) return true;
  }
  return false;
}

bool is_of_this_shell(std::string_view name) {
  for (const std::string_view exact : {"HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_"}) {
    if (name == exact) return true;
  }
  // mpirun hands its own on, and each host's Slurm says its own.
  return begins(name, "OMPI_") || begins(name, "PMIX_") || begins(name, "PRTE_") || begins(name, "SLURM_") ||
         begins(name, "SLURMD_");
}

bool is_a_name(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !name.empty() && name.find_first_not_of(kLetters) == name.npos;
}

}  // namespace

std::vector<char*> EngineEnvironment::kept(char* const* inherited, Engine engine, bool placed) {
  std::vector<std::string_view> all;
  for (char* const* at = inherited; *at != nullptr; ++at) all.emplace_back(*at);
  const bool nested = std::any_of(all.begin(), all.end(), [](std::string_view variable) {
    return name_in(variable) == "PMIX_NAMESPACE" || name_in(variable) == "OMPI_COMM_WORLD_RANK";
  });
  std::vector<char*> kept;
  for (char* const* at = inherited; *at != nullptr; ++at) {
    const std::string_view name = name_in(*at);
    if (name == "MPIEXEC_TIMEOUT") continue;  // Hydra's, too; mpiexec keeps the time itself
    if (nested && is_of_an_outer_mpirun(name)) continue;
    if (placed && engine == Engine::slurm && overrules_srun(name)) continue;
    kept.push_back(*at);
  }
  kept.push_back(nullptr);
  return kept;
}

EngineEnvironment::EngineEnvironment(char* const* inherited, const Variables& for_all, Engine engine,
                                     bool placed)
    : environment_(kept(inherited, engine, placed).data(), for_all) {}

std::vector<std::string> EngineEnvironment::names_to_hand_on() {
  std::vector<std::string> names;
  for (char* const* at = block(); *at != nullptr; ++at) {
    const std::string_view name = name_in(*at);
    if (is_a_name(name) && !is_of_this_shell(name)) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace starling::mpiexec

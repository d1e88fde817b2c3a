// SPDX-License-Identifier: BSD-3-Clause
// What each launcher's variables prove. Layer: framework. See docs/design/pmi.md and
// docs/process-managers.md.
//
// Hard here: a rank's children inherit every variable of its launcher, and of launchers around that one. Only
// a change since the rank was started says that another launcher came between.

#include "frameworks/pmi/launchers.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace starling::pmi {
namespace {

/// What a launcher's variable tells.
enum class Tells : std::uint8_t {
  size,      ///< processes of the job, or of the node: more than 1 is proof
  rank,      ///< a rank in the job: more than 0 is proof
  identity,  ///< nothing, but another launch has another value
};

struct Variable {
  const char* name;
  Tells tells;
};

struct Launcher {
  const char* id;      ///< in the mark
  const char* name;    ///< for people
  const char* remedy;  ///< how it offers PMI
  bool says_size;      ///< false: there is no variable with the size of the job, so being set is proof
  std::array<Variable, 7> variables;
};

constexpr Launcher kPmix = {
    "pmix",
    "a PMIx launcher",
    "have libpmix installed, which Starling's pmi/pmix needs, or start it with a PMI-1 launcher",
    false,
    {{{"PMIX_RANK", Tells::rank}, {"PMIX_NAMESPACE", Tells::identity}}}};

constexpr Launcher kPmi = {
    "pmi",
    "a PMI launcher",
    "let the launcher pass PMI_FD or PMI_PORT on (a wrapper that closes descriptors takes it away)",
    true,
    {{{"PMI_SIZE", Tells::size},
      {"MPI_LOCALNRANKS", Tells::size},
      {"PMI_RANK", Tells::rank},
      {"PMI_FD", Tells::identity},
      {"PMI_PORT", Tells::identity},
      {"PMI_ID", Tells::identity},
      {"HYDI_CONTROL_FD", Tells::identity}}}};

/// Starling's mpiexec sets Open MPI's variables for programs that read them, so PMI comes before.
constexpr Launcher kLaunchers[] = {
    {"slurm",
     "Slurm",
     "start it with `srun --mpi=pmi2` (or --mpi=pmix, if Starling's pmi/pmix can be used)",
     true,
     {{{"SLURM_STEP_NUM_TASKS", Tells::size},
       {"SLURM_PROCID", Tells::rank},
       {"SLURM_JOB_ID", Tells::identity},
       {"SLURM_STEP_ID", Tells::identity}}}},
    {"flux",
     "Flux",
     "start it with `flux run -o pmi=simple`",
     true,
     {{{"FLUX_JOB_SIZE", Tells::size}, {"FLUX_TASK_RANK", Tells::rank}, {"FLUX_JOB_ID", Tells::identity}}}},
    {"pals",
     "PALS",
     "start it with `mpiexec --pmi=pmix`, and have libpmix installed",
     false,
     {{{"PALS_LOCAL_SIZE", Tells::size}, {"PALS_RANKID", Tells::rank}, {"PALS_APID", Tells::identity}}}},
    {"jsrun",
     "jsrun",
     "have libpmix installed, which Starling's pmi/pmix needs",
     true,
     {{{"JSM_NAMESPACE_SIZE", Tells::size}, {"JSM_NAMESPACE_RANK", Tells::rank}}}},
    {"mvapich",
     "MVAPICH's launcher",
     "start it with `mpiexec.hydra`",
     true,
     {{{"MV2_COMM_WORLD_SIZE", Tells::size}, {"MV2_COMM_WORLD_RANK", Tells::rank}}}},
    kPmi,
    {"openmpi",
     "Open MPI's mpirun",
     "have libpmix installed, which Starling's pmi/pmix needs, or start it with Starling's own mpiexec",
     true,
     {{{"OMPI_COMM_WORLD_SIZE", Tells::size},
       {"OMPI_COMM_WORLD_RANK", Tells::rank},
       {"OMPI_MCA_ess_base_jobid", Tells::identity}}}},
    kPmix};

/// FNV-1a over what is set. Unset and empty are the same.
std::uint32_t hash_of(const Launcher& launcher, const Getenv& get, bool& any) {
  std::uint32_t hash = 0x811c9dc5u;
  const auto mix = [&hash](std::string_view text) {
    for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193u;
    hash = (hash ^ 0xffu) * 0x01000193u;  // "ab","c" is not "a","bc"
  };
  for (const Variable& variable : launcher.variables) {
    if (variable.name == nullptr) break;
    const bool set = is_set(get, variable.name);
    any = any || set;
    mix(set ? get(variable.name) : "");
  }
  return hash;
}

/// `slurm=1a2b3c4d`, or nothing if none of the launcher's variables is set.
std::string entry_of(const Launcher& launcher, const Getenv& get) {
  bool any = false;
  char hash[16];
  std::snprintf(hash, sizeof hash, "%08x", hash_of(launcher, get, any));
  return any ? std::string(launcher.id).append("=").append(hash) : std::string{};
}

struct Mark {
  std::int64_t pid = -1;
  std::string_view entries;

  [[nodiscard]] static std::optional<Mark> of(const Getenv& get) {
    if (!is_set(get, kRankMark)) return std::nullopt;
    const std::string_view text = get(kRankMark);
    Mark mark;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), mark.pid);
    if (code != std::errc{}) return std::nullopt;
    mark.entries = text.substr(static_cast<std::size_t>(stop - text.data()));
    return mark;
  }
  /// Whether the launcher's variables are what they were.
  [[nodiscard]] bool holds(const Launcher& launcher, const Getenv& get) const {
    const std::string now = entry_of(launcher, get);
    return now.empty() || entries.find(";" + now) != std::string_view::npos;
  }
};

std::string refusal(const std::string& evidence, const std::string& remedy) {
  return evidence +
         ", but offers no connection to a process manager that can be used (see the reasons of the other "
         "components of pmi); running on would make every process rank 0 of 1. What to do: " +
         remedy + ". To run independent processes on purpose, set STARLING_MCA_pmi_singleton_anyway=1";
}

/// The variable that proves that this launcher started several; null: none does.
const Variable* proof_of_several(const Launcher& launcher, const Getenv& get) {
  for (const Variable& variable : launcher.variables) {
    if (variable.name == nullptr) break;
    if (variable.tells == Tells::identity || !is_set(get, variable.name)) continue;
    const std::string_view alone = variable.tells == Tells::size ? "1" : "0";
    if (std::string_view(get(variable.name)) != alone) return &variable;
  }
  return nullptr;
}

bool any_set(const Launcher& launcher, const Getenv& get) { return !entry_of(launcher, get).empty(); }

/// Whether some launcher says that its job has one process.
bool said_to_be_one(const Getenv& get) {
  for (const Launcher& launcher : kLaunchers) {
    if (!launcher.says_size) continue;
    const Variable& size = launcher.variables[0];
    if (is_set(get, size.name) && std::string_view(get(size.name)) == "1") return true;
  }
  return false;
}

}  // namespace

Getenv process_environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

bool is_set(const Getenv& get, const char* name) {
  const char* const value = get(name);
  return value != nullptr && *value != '\0';
}

std::string rank_mark(const Getenv& get, std::int64_t pid) {
  std::string mark = std::to_string(pid);
  for (const Launcher& launcher : kLaunchers) {
    const std::string entry = entry_of(launcher, get);
    if (!entry.empty()) mark.append(";").append(entry);
  }
  return mark;
}

void leave_mark() { ::setenv(kRankMark, rank_mark(process_environment(), ::getpid()).c_str(), 1); }

Kinship kinship(const Getenv& get, std::int64_t pid, Manager manager) {
  const auto mark = Mark::of(get);
  if (!mark) return Kinship::none;
  if (!mark->holds(manager == Manager::pmi ? kPmi : kPmix, get)) return Kinship::launched;
  return mark->pid == pid ? Kinship::itself : Kinship::child;
}

const char* why_not_served(Kinship kinship) noexcept {
  switch (kinship) {
    case Kinship::child: return "the variables are those of a rank, of which this process is a child";
    case Kinship::itself:
      return "this process was a rank before it called exec(), which closed its connection";
    case Kinship::none:
    case Kinship::launched: break;
  }
  return nullptr;
}

bool offers_pmix(const Getenv& get) {
  if (!is_set(get, "PMIX_NAMESPACE") || !is_set(get, "PMIX_RANK")) return false;
  for (const char* uri : {"PMIX_SERVER_URI", "PMIX_SERVER_URI2", "PMIX_SERVER_URI21", "PMIX_SERVER_URI3",
                          "PMIX_SERVER_URI4", "PMIX_SERVER_URI41", "PMIX_SERVER_URI5", "PMIX_SERVER_URI51",
                          "PMIX_SERVER_URI6", "PMIX_SERVER_URI61", "PMIX_SERVER_URI7", "PMIX_SERVER_URI71"}) {
    if (is_set(get, uri)) return true;
  }
  return false;
}

std::optional<std::string> why_not_alone(const Getenv& get, std::int64_t pid) {
  auto mark = Mark::of(get);
  const bool replaced =
      mark && mark->pid == pid;  // a rank called exec(): no child, what is proved holds for it
  if (replaced) mark.reset();
  const bool one = said_to_be_one(get);
  for (const Launcher& launcher : kLaunchers) {
    if (mark && mark->holds(launcher, get)) continue;  // of the rank that started this process
    if (const Variable* const proof = proof_of_several(launcher, get); proof != nullptr) {
      const std::string proved = std::string(launcher.name) + " started several processes (" + proof->name +
                                 "=" + get(proof->name) + ")";
      if (!replaced) return refusal(proved, launcher.remedy);
      return refusal(proved + " and this one has replaced itself by exec(), which closed its connection",
                     "call MPI in one of the two programs only, or start the second as a process of its own");
    }
    if (!launcher.says_size && !one && any_set(launcher, get)) {
      return refusal(std::string(launcher.name) + " started this process and does not say how many others",
                     launcher.remedy);
    }
  }
  return std::nullopt;
}

}  // namespace starling::pmi

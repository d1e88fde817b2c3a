// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The launchers for several hosts that mpiexec hands a job over to, and which of them is there.
/// Layer: tools.
///
/// In the order in which they are taken. Slurm only inside an allocation of it: elsewhere srun would wait for
/// one that nobody asked for. PRRTE and Open MPI's mpirun keep what users expect (the end of standard input,
/// 128 + signal), but serve PMIx alone; Hydra serves any program and comes last.
///
/// Threads: one. Errors: not_found names the programs looked for and the packages that have them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "frameworks/pmi/launchers.hpp"

namespace starling::mpiexec {

enum class Engine : std::uint8_t { slurm, prrte, openmpi, hydra };
inline constexpr Engine kEngines[] = {Engine::slurm, Engine::prrte, Engine::openmpi, Engine::hydra};

/// What --launcher asks for.
struct LauncherChoice {
  enum class Kind : std::uint8_t { any, here, engine } kind = Kind::any;
  Engine engine = Engine::slurm;
  std::string hydra_launcher;  ///< how Hydra starts its own processes: "ssh"; empty: its affair
};
/// Errors: bad_parameter for a word that is none of them.
[[nodiscard]] Result<LauncherChoice> read_launcher(const std::string& word);

/// "Slurm".
[[nodiscard]] std::string_view name_of(Engine engine) noexcept;

struct FoundEngine {
  Engine engine = Engine::slurm;
  std::string path;
};
/// What is known of the surroundings, besides the variables.
struct Surroundings {
  pmi::Getenv get;
  bool pmix = false;  ///< ranks can speak PMIx: the plugin is there and not excluded by a parameter
};
/// The engine that --launcher names, or the first that is there.
[[nodiscard]] Result<FoundEngine> find_engine(const LauncherChoice& choice, const Surroundings& surroundings);

}  // namespace starling::mpiexec

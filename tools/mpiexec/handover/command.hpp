// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The command line by which an engine runs this job as mpiexec would. Layer: tools.
///
/// Every option of mpiexec has its word for every engine, or is refused with the reason. The environment is
/// the engine's own, which hands it on: Slurm and Hydra all of it, the two of Open MPI what -x names.
///
/// Threads: functions of their arguments. Errors: bad_parameter names the option and what can be done.

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "tools/mpiexec/handover/engine.hpp"
#include "tools/mpiexec/hosts.hpp"
#include "tools/mpiexec/options.hpp"

namespace starling::mpiexec {

/// A job for several hosts.
struct Request {
  Options options;
  LauncherChoice choice;
  std::vector<std::uint32_t> ranks;       ///< by program
  std::vector<Host> hosts;                ///< those to use; the allocation's if the user names none
  bool hosts_named = false;               ///< by the user
  std::vector<std::uint32_t> host_of;     ///< by rank: index into hosts
  std::vector<std::string> variables;     ///< names of the environment, for engines that want them listed
  std::string directory;                  ///< where mpiexec was started, absolute
  std::string slurm_mpi;                  ///< srun's --mpi; empty: as Slurm's variables say
  std::string job;                        ///< what %p becomes in names of output files
  std::uint32_t processors_per_node = 0;  ///< of the allocation, the fewest; 0: not known
  bool inside_step = false;               ///< of Slurm: its processors are in use already
  bool root = false;
};

/// The words after the engine's name.
[[nodiscard]] Result<std::vector<std::string>> words_for(Engine engine, const Request& request);

// One file each.
[[nodiscard]] Result<std::vector<std::string>> words_for_slurm(const Request& request);
[[nodiscard]] Result<std::vector<std::string>> words_for_openmpi(const Request& request, Engine engine);
[[nodiscard]] Result<std::vector<std::string>> words_for_hydra(const Request& request);

/// Of a program or of all; empty: where mpiexec was started. Absolute.
[[nodiscard]] std::string directory_of(const Request& request, const Program& program);
inline constexpr std::size_t kWordMax = std::size_t{96} << 10;  ///< the kernel takes 128 KiB
/// The hosts of ranks [first, first + count), one word a rank, joined by ','. Errors: bad_parameter if that
/// is longer than the system takes.
[[nodiscard]] Result<std::string> host_list(const Request& request, std::size_t first, std::size_t count);
/// The most ranks that one host gets, and how many hosts get any.
struct Load {
  std::uint32_t most = 0;
  std::uint32_t hosts = 0;
};
[[nodiscard]] Load load_of(const Request& request);
/// "0", "all" or "none": who reads standard input.
[[nodiscard]] std::string input_word(const InputTo& input);
/// The program's words, behind `env NAME=VALUE...` if it has variables of its own.
[[nodiscard]] std::vector<std::string> program_words(const Program& program);
/// Splits a -outfile-pattern: calls literal(text), rank() and host() in its order; %p is filled in. Absolute.
template <class Literal, class Rank, class HostName>
void each_part(const Request& request, const std::string& pattern, Literal literal, Rank rank, HostName host);
/// A path that is absolute: `path` counts from where mpiexec was started.
[[nodiscard]] std::string absolute(const Request& request, const std::string& path);

template <class Literal, class Rank, class HostName>
void each_part(const Request& request, const std::string& pattern, Literal literal, Rank rank,
               HostName host) {
  const std::string path = absolute(request, pattern);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'r') rank();
    if (next == 'h') host();
    if (next == 'p') literal(request.job);
    const bool taken = next == 'r' || next == 'h' || next == 'p';
    if (!taken) literal(std::string(1, path[i]));
    i += taken ? 1 : 0;
  }
}

}  // namespace starling::mpiexec

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  mpiexec's command line, in the dialects of both worlds. Layer: tools.
///
/// Options have one or two dashes at will (-np and --np, -bind-to and --bind-to), some take two values (-env
/// NAME VALUE, --mca NAME VALUE), everything after the program's name belongs to the program, and `:` starts
/// the next program with options of its own. What such a table is: tools/options/options.hpp.
///
/// Threads: one. Errors: bad_parameter names the option, what was given, what was expected, and the nearest
/// known name.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "params/registry.hpp"
#include "tools/mpiexec/binding.hpp"

namespace starling::mpiexec {

/// Where its errors come from.
inline constexpr char kWhere[] = "mpiexec";

inline constexpr std::uint32_t kMaxRanks = 1u << 20;

using Variables = std::vector<std::pair<std::string, std::string>>;

/// One program of the job (between two ':').
struct Program {
  std::optional<std::uint32_t> ranks;
  std::vector<std::string> argv;
  Variables env;
  std::string wdir;
};

/// Who reads mpiexec's standard input.
struct InputTo {
  std::optional<std::uint32_t> rank = 0;  ///< none: nobody, or all
  bool all = false;
};

struct Options {
  std::vector<Program> programs;
  Variables env;                   ///< -genv: for all programs
  std::string wdir;                ///< -gwdir
  std::vector<std::string> hosts;  ///< as written, "name[:slots]"
  PlacementWords place;
  std::uint32_t virtual_nodes = 1;
  bool labels = false;        ///< the rank before each line
  bool times = false;         ///< the time before each line
  std::string label_pattern;  ///< -prepend-pattern: before each line, instead of the rank
  bool merge = false;         ///< standard error goes where standard output goes
  InputTo input;
  bool exit_codes = false;  ///< print those of all ranks
  std::optional<std::uint32_t> universe;
  bool verbose = false;
  bool allow_stop = false;  ///< a stopped rank does not end the job
  bool keep_job = false;    ///< the death of a rank does not end the job
  bool version = false;
  bool help = false;
  std::string out_pattern;
  std::string err_pattern;
  std::optional<std::uint32_t> timeout_s;
  std::vector<params::CommandLineSetting> mca;
  std::string params_file;
  bool pmix = false;  ///< serve PMIx as well
  // How other hosts are reached; of no meaning on one machine.
  std::string launcher;
  std::string launcher_exec;
  std::string iface;
};

/// Whether the ranks' lines get something in front, so that mpiexec reads them.
[[nodiscard]] inline bool marks_lines(const Options& options) {
  return options.labels || options.times || !options.label_pattern.empty();
}

/// Parses the arguments after the program name. -configfile and -hostfile are read here.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& arguments);

/// What --help prints; written from the same table.
[[nodiscard]] std::string help_text();

/// Words of a -configfile: lines join as if by ':', `#` starts a comment, quotes and backslashes as in a
/// shell.
[[nodiscard]] Result<std::vector<std::string>> read_config_file(const std::string& path);
/// Hosts of a -hostfile: `name`, `name:slots` or `name slots=N` per line (as `cpu=`, `count=`, or
/// `max-slots=` where no other number is said). Any other key is an error.
[[nodiscard]] Result<std::vector<std::string>> read_host_file(const std::string& path);

}  // namespace starling::mpiexec

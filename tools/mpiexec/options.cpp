// SPDX-License-Identifier: BSD-3-Clause
// The table of mpiexec's options and its interpreter. Layer: tools.

#include "tools/mpiexec/options.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "params/excerpt.hpp"
#include "params/nearest.hpp"
#include "tools/options/options.hpp"

namespace starling::mpiexec {
namespace {

struct State {
  Options options;
  Program program;    ///< the one whose options are being read
  std::string given;  ///< the option as it was written, for messages
};
using Values = std::span<const std::string>;
using params::excerpt;

Unexpected bad(std::string text) { return fail(Errc::bad_parameter, kWhere, std::move(text)); }

Result<std::uint32_t> number(const State& state, const std::string& text, std::uint32_t min,
                             std::uint32_t max) {
  const auto value = options::whole_number(text, min, max);
  if (value) return *value;
  return bad("option " + state.given + ": \"" + excerpt(text) + "\" is no whole number from " +
             std::to_string(min) + " to " + std::to_string(max));
}

Result<void> check_name(const State& state, const std::string& name) {
  if (!name.empty() && name.find('=') == std::string::npos) return {};
  return bad("option " + state.given + ": \"" + excerpt(name) + "\" is no name of an environment variable");
}

Result<void> set_ranks(State& state, Values values) {
  auto ranks = number(state, values[0], 1, kMaxRanks);
  if (!ranks) return fail(std::move(ranks).error());
  state.program.ranks = *ranks;
  return {};
}
Result<void> set_per_node(State& state, Values values) {
  auto count = number(state, values[0], 1, kMaxRanks);
  if (!count) return fail(std::move(count).error());
  state.options.place.per_node = *count;
  return {};
}
Result<void> set_virtual_nodes(State& state, Values values) {
  auto count = number(state, values[0], 1, kMaxRanks);
  if (!count) return fail(std::move(count).error());
  state.options.virtual_nodes = *count;
  return {};
}
Result<void> add_hosts(State& state, Values values) {
  std::string_view list = values[0];
  while (!list.empty()) {
    const std::string_view host = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), host.size() + 1));
    if (host.empty())
      return bad("option " + state.given + ": \"" + excerpt(values[0]) + "\" has an empty host name");
    state.options.hosts.emplace_back(host);
  }
  return {};
}
Result<void> add_host_file(State& state, Values values) {
  auto hosts = read_host_file(values[0]);
  if (!hosts) return fail(std::move(hosts).error());
  state.options.hosts.insert(state.options.hosts.end(), hosts->begin(), hosts->end());
  return {};
}
Result<void> add_env(State& state, Values values) {
  if (auto ok = check_name(state, values[0]); !ok) return ok;
  state.program.env.emplace_back(values[0], values[1]);
  return {};
}
Result<void> add_global_env(State& state, Values values) {
  if (auto ok = check_name(state, values[0]); !ok) return ok;
  state.options.env.emplace_back(values[0], values[1]);
  return {};
}
Result<void> add_exported(State& state, Values values) {
  // -x NAME exports what is inherited anyway; -x NAME=VALUE sets it.
  const std::size_t equals = values[0].find('=');
  const std::string name = values[0].substr(0, equals);
  if (auto ok = check_name(state, name); !ok) return ok;
  if (equals != std::string::npos) state.program.env.emplace_back(name, values[0].substr(equals + 1));
  return {};
}
Result<void> set_wdir(State& state, Values values) {
  state.program.wdir = values[0];
  return {};
}
Result<void> set_global_wdir(State& state, Values values) {
  state.options.wdir = values[0];
  return {};
}
template <auto Read>
Result<void> set_places(State& state, Values values) {
  auto done = Read(values[0], state.options.place);
  if (!done) return bad("option " + state.given + ": " + done.error().detail);
  return {};
}
Result<void> set_labels(State& state, Values) {
  state.options.labels = true;
  return {};
}
Result<void> set_verbose(State& state, Values) {
  state.options.verbose = true;
  return {};
}
Result<void> set_allow_stop(State& state, Values) {
  state.options.allow_stop = true;
  return {};
}
Result<void> set_keep_job(State& state, Values) {
  state.options.keep_job = true;
  return {};
}
Result<void> set_version(State& state, Values) {
  state.options.version = true;
  return {};
}
Result<void> set_help(State& state, Values) {
  state.options.help = true;
  return {};
}
Result<void> set_out(State& state, Values values) {
  state.options.out_pattern = values[0];
  return {};
}
Result<void> set_err(State& state, Values values) {
  state.options.err_pattern = values[0];
  return {};
}
Result<void> set_timeout(State& state, Values values) {
  auto seconds = number(state, values[0], 1, 1u << 30);
  if (!seconds) return fail(std::move(seconds).error());
  state.options.timeout_s = *seconds;
  return {};
}
Result<void> add_mca(State& state, Values values) {
  state.options.mca.push_back({values[0], values[1]});
  return {};
}
Result<void> set_params(State& state, Values values) {
  state.options.params_file = values[0];
  return {};
}
Result<void> set_pmi(State& state, Values values) {
  const std::string& what = values[0];
  if (what != "pmix" && what != "pmi") {
    return bad("option " + state.given + ": \"" + excerpt(what) +
               "\" is neither pmi (the default: PMI alone) nor pmix");
  }
  state.options.pmix = what == "pmix";
  return {};
}
Result<void> set_launcher(State& state, Values values) {
  state.options.launcher = values[0];
  return {};
}
Result<void> set_launcher_exec(State& state, Values values) {
  state.options.launcher_exec = values[0];
  return {};
}
Result<void> set_iface(State& state, Values values) {
  state.options.iface = values[0];
  return {};
}
Result<void> ignore(State&, Values) { return {}; }

/// Without help: accepted because scripts write it, without effect here.
struct Option {
  std::string_view names, values, help;  ///< options::Form
  Result<void> (*apply)(State&, Values);

  [[nodiscard]] options::Form form() const { return {names, values, help}; }
};

constexpr Option kOptions[] = {
    {"n np c", "N", "start N ranks of the program (default: -ppn for each host, slots of the list, else 1)",
     &set_ranks},
    {"ppn N npernode perhost", "N", "ranks per host, or per virtual node", &set_per_node},
    {"virtual-nodes", "K", "pretend that this machine is K nodes", &set_virtual_nodes},
    {"host hosts H", "LIST", "host names, separated by commas: NAME or NAME:SLOTS", &add_hosts},
    {"f hostfile machinefile", "FILE", "host names from a file, one a line", &add_host_file},
    {"env", "NAME VALUE", "set a variable for this program", &add_env},
    {"genv", "NAME VALUE", "set a variable for all programs", &add_global_env},
    {"x", "NAME[=VALUE]", "export a variable (all are inherited), or set it", &add_exported},
    {"wdir wd", "DIR", "working directory of this program", &set_wdir},
    {"gwdir", "DIR", "working directory of all programs", &set_global_wdir},
    {"launcher", "WHAT",
     "who starts ranks on other hosts: auto (default), local, slurm, prrte, openmpi, hydra", &set_launcher},
    {"launcher-exec", "PROGRAM", "what that launcher calls instead of ssh", &set_launcher_exec},
    {"iface", "NAME", "the network interface that the launcher itself uses", &set_iface},
    {"bind-to", "WHAT",
     "none (default), or UNIT[:N]: core, hwthread, l1cache to l3cache, numa, socket, machine",
     &set_places<&read_bind_to>},
    {"map-by", "WHAT",
     "slot (default: fill a node first), node (in turn), UNIT[:N][:PE=N], ppr:N:node, ppr:N:UNIT",
     &set_places<&read_map_by>},
    {"rank-by", "WHAT", "in which order ranks are numbered: slot, node, UNIT", &set_places<&read_rank_by>},
    {"l prepend-rank tag-output", "", "label every line of output with its rank", &set_labels},
    {"outfile-pattern output-filename", "PATTERN", "standard output into files; %r rank, %h host, %p job",
     &set_out},
    {"errfile-pattern", "PATTERN", "standard error into files", &set_err},
    {"timeout", "SECONDS", "print what every rank waits for and end the job after this time", &set_timeout},
    {"allow-stop", "", "a rank that is stopped by a signal does not end the job", &set_allow_stop},
    {"disable-auto-cleanup enable-recovery", "", "the death of a rank does not end the job", &set_keep_job},
    {"mca gmca", "NAME VALUE", "set a parameter of Starling", &add_mca},
    {"params tune", "FILE", "read parameters from a file", &set_params},
    {"pmi", "WHAT", "pmi (default), or pmix: serve PMIx as well, for programs that speak nothing else",
     &set_pmi},
    {"v verbose", "", "say what is started", &set_verbose},
    {"version V", "", "print the version", &set_version},
    {"help h", "", "print this", &set_help},
    {"oversubscribe nooversubscribe allow-run-as-root use-hwthread-cpus report-bindings q quiet", "", "",
     &ignore},
    {"envall genvall envnone genvnone enable-x disable-x", "", "", &ignore},
    {"envlist genvlist rmk", "WHAT", "", &ignore},
};

/// Is no row: what it does is to read further words.
constexpr options::Form kConfigFile{"configfile", "FILE",
                                    "options and programs from a file, one program a line"};

Unexpected unknown_option(const std::string& given, std::string_view name) {
  std::vector<std::string_view> names = options::names_of(kConfigFile.names);
  for (const Option& option : kOptions) {
    for (const std::string_view known : options::names_of(option.names)) names.push_back(known);
  }
  const std::string near = params::nearest(name, names);
  return bad(
      "unknown option " + excerpt(given) +
      (near.empty() ? "" : "; did you mean " + std::string(near.size() > 1 ? "--" : "-") + near + "?") +
      " (mpiexec --help lists all)");
}

Result<void> finish_program(State& state) {
  if (state.program.argv.empty()) return bad("no program is given before ':' or at the end");
  state.options.programs.push_back(std::move(state.program));
  state.program = {};
  return {};
}

Result<void> parse_words(State& state, const std::vector<std::string>& words, bool from_file) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ":") {
      if (auto done = finish_program(state); !done) return done;
      continue;
    }
    const auto word = state.program.argv.empty() ? options::option_in(words[i]) : std::nullopt;
    if (!word) {
      state.program.argv.push_back(words[i]);
      continue;
    }
    if (words[i] == "--") continue;  // the program's name follows, whatever it starts with
    state.given = word->given;
    const bool config = word->name == kConfigFile.names;
    const Option* const option = options::find(kOptions, word->name);
    if (option == nullptr && !config) return unknown_option(state.given, word->name);
    const options::Form form = config ? kConfigFile : option->form();
    auto values = options::values_of(form, *word, words, i);
    if (!values) return bad(values.error().detail);
    if (config) {
      if (from_file) return bad("a -configfile cannot name another");
      auto read = read_config_file(values->front());
      if (!read) return fail(std::move(read).error());
      if (auto done = parse_words(state, *read, true); !done) return done;
      continue;
    }
    if (auto done = option->apply(state, *values); !done) return done;
  }
  return {};
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  State state;
  if (auto done = parse_words(state, arguments, false); !done) return fail(std::move(done).error());
  if (state.options.help || state.options.version) return std::move(state.options);
  if (auto done = settle(state.options.place); !done) return bad(done.error().detail);
  const bool ends_with_colon = state.program.argv.empty() && !state.options.programs.empty();
  if (!ends_with_colon || state.program.ranks) {
    if (auto done = finish_program(state); !done) {
      return bad(
          "no program is given; usage: mpiexec -n N PROGRAM [ARGUMENTS] (mpiexec --help lists the options)");
    }
  }
  return std::move(state.options);
}

std::string help_text() {
  std::string text =
      "usage: mpiexec [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...\n"
      "Starts the ranks of a job on this machine; on several hosts through Slurm, PRRTE, Open MPI's mpirun "
      "or Hydra.\n"
      "Options have one or two dashes.\n\n";
  const auto line = [&text](const options::Form& form) {
    std::string left = " ";
    for (const std::string_view name : options::names_of(form.names)) left.append(" -").append(name);
    left.append(form.values.empty() ? "" : " ").append(form.values);
    text += options::help_line(std::move(left), form.help, 44);
  };
  for (const Option& option : kOptions) {
    if (!option.help.empty()) line(option.form());
  }
  line(kConfigFile);
  text += "\nWithout effect, because scripts write them:";
  for (const Option& option : kOptions) {
    if (!option.help.empty()) continue;
    for (const std::string_view name : options::names_of(option.names)) text.append(" -").append(name);
  }
  text +=
      "\n\nVariables: MPIEXEC_TIMEOUT (as --timeout). SIGUSR1 makes mpiexec print what every rank waits "
      "for.\n"
      "Exit code: that of the first rank that failed, 128 + signal for signals, 124 after --timeout.\n";
  return text;
}

}  // namespace starling::mpiexec

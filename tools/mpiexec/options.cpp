// SPDX-License-Identifier: BSD-3-Clause
// The table of mpiexec's options and its interpreter. Layer: tools.

#include "tools/mpiexec/options.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "params/excerpt.hpp"
#include "params/nearest.hpp"
#include "tools/mpiexec/other_options.hpp"
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
template <auto Read>
Result<void> set_places(State& state, Values values) {
  auto done = Read(values[0], state.options.place);
  if (!done) return bad("option " + state.given + ": " + done.error().detail);
  return {};
}
/// An option without a value whose word for -bind-to, -map-by or -rank-by is written here.
template <auto Read, const char* Text>
Result<void> set_places_to(State& state, Values) {
  const std::string text = Text;
  return set_places<Read>(state, Values(&text, 1));
}
/// Likewise, with a number in the middle.
template <auto Read, const char* Before, const char* Behind>
Result<void> set_places_with(State& state, Values values) {
  const std::string text = Before + values[0] + Behind;
  return set_places<Read>(state, Values(&text, 1));
}
constexpr char kByNode[] = "node";
constexpr char kBySlot[] = "slot";
constexpr char kCore[] = "core";
constexpr char kSocket[] = "socket";
constexpr char kOnNode[] = "ppr:1:node";
constexpr char kPerResource[] = "ppr:";
constexpr char kPerSocket[] = ":socket";
constexpr char kCoresEach[] = "slot:PE=";
constexpr char kNothing[] = "";

template <auto Member, bool Value = true>
Result<void> set_flag(State& state, Values) {
  state.options.*Member = Value;
  return {};
}
template <auto Member>
Result<void> set_text(State& state, Values values) {
  state.options.*Member = values[0];
  return {};
}
Result<void> set_threads_are_cores(State& state, Values) {
  state.options.place.map.cores_are_threads = true;
  return {};
}
Result<void> set_show(State& state, Values) {
  state.options.place.show = true;
  return {};
}
Result<void> set_input(State& state, Values values) {
  InputTo& input = state.options.input;
  input.all = values[0] == "all";
  input.rank.reset();
  if (input.all || values[0] == "none") return {};
  const auto rank = options::whole_number(values[0], 0, kMaxRanks - 1);
  if (!rank)
    return bad("option " + state.given + ": \"" + excerpt(values[0]) +
               "\" is no rank, and neither all nor none");
  input.rank = *rank;
  return {};
}
Result<void> set_output(State& state, Values values) {
  std::string_view list = values[0];
  do {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    if (word == "tag" || word == "rank") {
      state.options.labels = true;
    } else if (word == "timestamp") {
      state.options.times = true;
    } else if (word == "merge-stderr-to-stdout" || word == "merge") {
      state.options.merge = true;
    } else {
      return bad("option " + state.given + ": \"" + excerpt(std::string(word)) +
                 "\" is none of tag, rank, timestamp, merge (-outfile-pattern writes files)");
    }
  } while (!list.empty());
  return {};
}
Result<void> set_display(State& state, Values values) {
  if (values[0] != "map" && values[0] != "bind" && values[0] != "bindings")
    return bad("option " + state.given + ": \"" + excerpt(values[0]) + "\" is neither map nor bind");
  state.options.place.show = true;
  return {};
}
Result<void> set_fault_tolerance(State& state, Values values) {
  const std::string& word = values[0];
  const bool on = word == "ulfm" || word == "mpi" || word == "yes" || word == "true" || word == "1";
  if (!on && word != "none" && word != "no" && word != "false" && word != "0")
    return bad("option " + state.given + ": \"" + excerpt(word) + "\" is none of ulfm, mpi, yes, none, no");
  state.options.keep_job = on;
  return {};
}
Result<void> set_universe(State& state, Values values) {
  state.options.universe.reset();
  if (values[0] == "SYSTEM" || values[0] == "INFINITE") return {};  // as many as there are ranks
  auto size = number(state, values[0], 1, kMaxRanks);
  if (!size) return fail(std::move(size).error());
  state.options.universe = *size;
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
Result<void> set_pmi(State& state, Values values) {
  const std::string& what = values[0];
  if (what != "pmix" && what != "pmi") {
    return bad("option " + state.given + ": \"" + excerpt(what) +
               "\" is neither pmi (the default: PMI alone) nor pmix");
  }
  state.options.pmix = what == "pmix";
  return {};
}
/// An option that does something. What others mean and mpiexec does not do: other_options.cpp.
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
    {"f hostfile machinefile default-hostfile", "FILE", "host names from a file, one a line", &add_host_file},
    {"env", "NAME VALUE", "set a variable for this program", &add_env},
    {"genv", "NAME VALUE", "set a variable for all programs", &add_global_env},
    {"x", "NAME[=VALUE]", "export a variable (all are inherited), or set it", &add_exported},
    {"wdir wd", "DIR", "working directory of this program", &set_wdir},
    {"gwdir", "DIR", "working directory of all programs", &set_text<&Options::wdir>},
    {"launcher", "WHAT",
     "who starts ranks on other hosts: auto (default), local, slurm, prrte, openmpi, hydra",
     &set_text<&Options::launcher>},
    {"launcher-exec", "PROGRAM", "what that launcher calls instead of ssh",
     &set_text<&Options::launcher_exec>},
    {"iface", "NAME", "the network interface that the launcher itself uses", &set_text<&Options::iface>},
    {"bind-to", "WHAT",
     "none (default), or UNIT[:N]: core, hwthread, l1cache to l3cache, numa, socket, machine",
     &set_places<&read_bind_to>},
    {"map-by", "WHAT",
     "slot (default: fill a node first), node (in turn), UNIT[:N][:PE=N], ppr:N:node, ppr:N:UNIT",
     &set_places<&read_map_by>},
    {"rank-by", "WHAT", "in which order ranks are numbered: slot, node, UNIT", &set_places<&read_rank_by>},
    {"pernode", "", "one rank per host", &set_places_to<&read_map_by, kOnNode>},
    {"npersocket", "N", "ranks per socket", &set_places_with<&read_map_by, kPerResource, kPerSocket>},
    {"ppr", "N:UNIT", "as -map-by ppr:N:UNIT", &set_places_with<&read_map_by, kPerResource, kNothing>},
    {"bynode", "", "as -map-by node", &set_places_to<&read_map_by, kByNode>},
    {"byslot", "", "as -map-by slot", &set_places_to<&read_map_by, kBySlot>},
    {"bycore", "", "as -map-by core", &set_places_to<&read_map_by, kCore>},
    {"bind-to-core", "", "as -bind-to core", &set_places_to<&read_bind_to, kCore>},
    {"bind-to-socket", "", "as -bind-to socket", &set_places_to<&read_bind_to, kSocket>},
    {"cpus-per-proc cpus-per-rank", "N", "as -map-by slot:PE=N",
     &set_places_with<&read_map_by, kCoresEach, kNothing>},
    {"use-hwthread-cpus", "", "PE counts hardware threads", &set_threads_are_cores},
    {"l prepend-rank tag-output", "", "label every line of output with its rank",
     &set_flag<&Options::labels>},
    {"outfile-pattern output-filename", "PATTERN", "standard output into files; %r rank, %h host, %p job",
     &set_text<&Options::out_pattern>},
    {"errfile-pattern", "PATTERN", "standard error into files", &set_text<&Options::err_pattern>},
    {"prepend-pattern", "PATTERN", "put this before every line of output; %r rank, %h host, %p job",
     &set_text<&Options::label_pattern>},
    {"timestamp-output", "", "put the time before every line of output", &set_flag<&Options::times>},
    {"merge-stderr-to-stdout", "", "standard error goes where standard output goes",
     &set_flag<&Options::merge>},
    {"output", "LIST", "some of tag, timestamp, merge: the three above", &set_output},
    {"stdin s", "WHICH", "standard input goes to this rank (default: 0), to all (from a file), or none",
     &set_input},
    {"display-map report-bindings", "", "print which rank runs where, and on which processors", &set_show},
    {"display", "WHAT", "map or bind: the same", &set_display},
    {"print-all-exitcodes", "", "print the exit codes of all ranks at the end",
     &set_flag<&Options::exit_codes>},
    {"timeout", "SECONDS", "print what every rank waits for and end the job after this time", &set_timeout},
    {"allow-stop", "", "a rank that is stopped by a signal does not end the job",
     &set_flag<&Options::allow_stop>},
    {"disable-auto-cleanup enable-recovery", "", "the death of a rank does not end the job",
     &set_flag<&Options::keep_job>},
    {"disable-recovery", "", "the death of a rank ends the job (the default)",
     &set_flag<&Options::keep_job, false>},
    {"with-ft", "WHAT", "ulfm or mpi: as -enable-recovery; none: the default", &set_fault_tolerance},
    {"usize", "N", "the attribute MPI_UNIVERSE_SIZE (default: the number of ranks)", &set_universe},
    {"mca gmca", "NAME VALUE", "set a parameter of Starling", &add_mca},
    {"params tune", "FILE", "read parameters from a file", &set_text<&Options::params_file>},
    {"pmi", "WHAT", "pmi (default), or pmix: serve PMIx as well, for programs that speak nothing else",
     &set_pmi},
    {"v verbose", "", "say what is started", &set_flag<&Options::verbose>},
    {"version V info", "", "print the version", &set_flag<&Options::version>},
    {"help h", "", "print this", &set_flag<&Options::help>},
};

/// Is no row: what it does is to read further words.
constexpr options::Form kConfigFile{"configfile app", "FILE",
                                    "options and programs from a file, one program a line"};

bool is_config_file(std::string_view name) {
  const auto names = options::names_of(kConfigFile.names);
  return std::find(names.begin(), names.end(), name) != names.end();
}

const OtherOption* find_other(std::string_view name) {
  for (const OtherOption& other : other_options()) {
    const auto names = options::names_of(other.names);
    if (std::find(names.begin(), names.end(), name) != names.end()) return &other;
  }
  return nullptr;
}

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
    const bool config = is_config_file(word->name);
    const Option* const option = options::find(kOptions, word->name);
    const OtherOption* const other = option == nullptr && !config ? find_other(word->name) : nullptr;
    if (option == nullptr && !config && other == nullptr) return unknown_option(state.given, word->name);
    if (other != nullptr && other->refused)
      return bad("option " + state.given + " is not there; " + std::string(other->text));
    const options::Form form = config ? kConfigFile : other != nullptr ? other->form() : option->form();
    auto values = options::values_of(form, *word, words, i);
    if (!values) return bad(values.error().detail);
    if (config) {
      if (from_file) return bad("a -configfile cannot name another");
      auto read = read_config_file(values->front());
      if (!read) return fail(std::move(read).error());
      if (auto done = parse_words(state, *read, true); !done) return done;
      continue;
    }
    if (option == nullptr) continue;
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
  for (const Option& option : kOptions) line(option.form());
  line(kConfigFile);
  text += "\nWithout effect, because scripts write them:";
  for (const OtherOption& other : other_options()) {
    if (other.refused) continue;
    for (const std::string_view name : options::names_of(other.names)) text.append(" -").append(name);
  }
  text +=
      "\n\nVariables: MPIEXEC_TIMEOUT (as --timeout). SIGUSR1 makes mpiexec print what every rank waits "
      "for.\n"
      "Exit code: that of the first rank that failed, 128 + signal for signals, 124 after --timeout.\n";
  return text;
}

}  // namespace starling::mpiexec

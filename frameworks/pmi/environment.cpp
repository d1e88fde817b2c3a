// SPDX-License-Identifier: BSD-3-Clause
// Launchers' environment variables. Layer: framework. See docs/design/pmi.md and docs/process-managers.md.
//
// Hard here: PMI_FD stays in the environment of every child of a rank, but the descriptor does not (the
// client sets close-on-exec), and its number may be used for something else by then. The socket's inode tells
// the difference.

#include "frameworks/pmi/environment.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace starling::pmi {
namespace {

constexpr char kWhere[] = "environment";

template <class Number>
Result<Number> number_of(std::string_view name, std::string_view text, Number min, Number max) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end || value < min || value > max) {
    return fail(Errc::bad_input, kWhere,
                std::string(name) + " is \"" + std::string(text) + "\"; a whole number from " +
                    std::to_string(min) + " to " + std::to_string(max) + " was expected");
  }
  return value;
}

bool is_set(const Getenv& get, const char* name) {
  const char* const value = get(name);
  return value != nullptr && *value != '\0';
}

/// Job sizes as launchers publish them, and how each offers PMI.
struct SizeVariable {
  const char* name;
  const char* launcher;
  const char* remedy;
};
constexpr SizeVariable kSizeVariables[] = {
    {"SLURM_STEP_NUM_TASKS", "Slurm",
     "start it with `srun --mpi=pmi2` (or --mpi=pmix, if Starling has its pmix plugin)"},
    {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun",
     "start it with Starling's own mpiexec, or with `mpiexec.hydra`"},
    {"FLUX_JOB_SIZE", "Flux", "start it with `flux run -o pmi=simple`"},
    {"PALS_LOCAL_SIZE", "PALS",
     "start it with `mpiexec --pmi=pmix`, and have Starling's pmix plugin installed"},
    {"PMI_SIZE", "a PMI launcher",
     "let the launcher pass PMI_FD or PMI_PORT on (a wrapper that closes descriptors takes it away)"},
};

std::string refusal(const std::string& evidence, const std::string& remedy) {
  return evidence +
         ", but offers no PMI-1 connection (neither PMI_FD nor PMI_PORT leads to one); running on would make "
         "every process rank 0 of 1. What to do: " +
         remedy + ". To run independent processes on purpose, set STARLING_MCA_pmi_singleton_anyway=1";
}

Result<Launch> launch_of_fd(const Getenv& get, std::string_view fd_text) {
  Launch launch;
  auto fd = number_of<int>("PMI_FD", fd_text, 0, std::numeric_limits<int>::max());
  if (!fd) return fail(std::move(fd).error());
  struct stat facts {};
  const bool is_socket = ::fstat(*fd, &facts) == 0 && S_ISSOCK(facts.st_mode);
  if (const char* const text = get("STARLING_PMI_FEATURES"); text != nullptr && *text != '\0') {
    auto features = Features::parse(text);
    if (!features) return fail(std::move(features).error());
    if (!is_socket || facts.st_ino != features->socket) {
      launch.why_none = "PMI_FD is no longer the connection to mpiexec: this process is a child of a rank";
      return launch;
    }
    launch.features = std::move(*features);
  } else if (!is_socket) {
    launch.why_none = "PMI_FD=" + std::string(fd_text) + " is no open socket in this process";
    return launch;
  }
  launch.kind = Launch::Kind::inherited_fd;
  launch.fd = *fd;
  return launch;
}

Result<Launch> launch_of_port(const Getenv& get, std::string_view address) {
  Launch launch;
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return fail(Errc::bad_input, kWhere,
                "PMI_PORT is \"" + std::string(address) + "\"; host:port was expected");
  }
  auto port = number_of<int>("PMI_PORT", address.substr(colon + 1), 1, 65535);
  if (!port) return fail(std::move(port).error());
  if (!is_set(get, "PMI_ID")) return fail(Errc::bad_input, kWhere, "PMI_PORT is set, but PMI_ID is not");
  auto id = number_of<int>("PMI_ID", get("PMI_ID"), 0, std::numeric_limits<int>::max());
  if (!id) return fail(std::move(id).error());
  launch.kind = Launch::Kind::tcp_port;
  launch.host = address.substr(0, colon);
  launch.port = std::to_string(*port);
  launch.id = std::to_string(*id);
  return launch;
}

}  // namespace

Getenv process_environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

std::string Features::text() const {
  return "socket=" + std::to_string(socket) + ";vallen=" + std::to_string(vallen_max) +
         ";universe=" + std::to_string(universe_size) + ";appnum=" + std::to_string(appnum) +
         ";nodes=" + nodes.text();
}

Result<Features> Features::parse(std::string_view text) {
  constexpr std::string_view kName = "STARLING_PMI_FEATURES";
  Features features;
  bool has_socket = false;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view key = item.substr(0, equals);
    const std::string_view value = item.substr(std::min(item.size(), equals + 1));
    const auto take = [&]<class Number>(Number& into, Number max) -> Result<void> {
      auto number = number_of<Number>(kName, value, 0, max);
      if (!number) return fail(std::move(number).error());
      into = *number;
      return {};
    };
    Result<void> taken;
    if (key == "socket") {
      taken = take(features.socket, std::numeric_limits<std::uint64_t>::max());
      has_socket = true;
    } else if (key == "vallen") {
      taken = take(features.vallen_max, std::size_t{1} << 20);
    } else if (key == "universe") {
      taken = take(features.universe_size, std::numeric_limits<std::uint32_t>::max());
    } else if (key == "appnum") {
      taken = take(features.appnum, std::numeric_limits<std::uint32_t>::max());
    } else if (key == "nodes") {
      auto nodes = NodeMap::parse(value);
      if (!nodes) return fail(std::move(nodes).error().within(kName));
      features.nodes = std::move(*nodes);
    }  // a key of a later mpiexec: nothing that this client needs
    if (!taken) return fail(std::move(taken).error());
  }
  if (!has_socket) return fail(Errc::bad_input, kWhere, std::string(kName) + " names no socket");
  return features;
}

Result<Launch> launch_of(const Getenv& get) {
  if (is_set(get, "PMI_FD")) return launch_of_fd(get, get("PMI_FD"));
  if (is_set(get, "PMI_PORT")) return launch_of_port(get, get("PMI_PORT"));
  Launch launch;
  launch.why_none = "neither PMI_FD nor PMI_PORT is set: no PMI-1 launcher started this process";
  return launch;
}

std::optional<std::string> why_not_alone(const Getenv& get) {
  if (is_set(get, "STARLING_JOB")) return std::nullopt;
  bool size_is_one = false;
  for (const SizeVariable& variable : kSizeVariables) {
    if (!is_set(get, variable.name)) continue;
    const std::string_view text = get(variable.name);
    if (text == "1") {
      size_is_one = true;
      continue;
    }
    return refusal(std::string(variable.launcher) + " started several processes (" + variable.name + "=" +
                       std::string(text) + ")",
                   variable.remedy);
  }
  if (!size_is_one && is_set(get, "PMIX_NAMESPACE") && is_set(get, "PMIX_RANK")) {
    return refusal("a PMIx launcher started this process (PMIX_NAMESPACE=" +
                       std::string(get("PMIX_NAMESPACE")) + ", PMIX_RANK=" + get("PMIX_RANK") + ")",
                   "install Starling's pmix plugin, or start it with a PMI-1 launcher");
  }
  return std::nullopt;
}

}  // namespace starling::pmi

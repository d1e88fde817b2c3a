// SPDX-License-Identifier: BSD-3-Clause
// Launchers' environment variables. Layer: framework. See docs/design/pmi.md and docs/process-managers.md.
//
// Hard here: PMI_FD stays in the environment of every child of a rank, but the descriptor does not (the
// client sets close-on-exec), and its number may be used for something else by then. The socket's inode tells
// the difference where mpiexec is Starling's; elsewhere, and for PMI_PORT, the mark of the rank does.

#include "frameworks/pmi/environment.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
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

/// Whether the variables are a rank's, and offer this process nothing.
bool of_a_rank(const Getenv& get, Launch& launch) {
  const char* const reason = why_not_served(kinship(get, ::getpid(), Manager::pmi));
  if (reason != nullptr) launch.why_none = reason;
  return reason != nullptr;
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
    if (is_socket && facts.st_ino == features->socket) launch.features = std::move(*features);
  }
  if (!launch.features && of_a_rank(get, launch)) return launch;
  if (!is_socket) {
    launch.why_none = "PMI_FD=" + std::string(fd_text) + " is no open socket in this process";
    return launch;
  }
  launch.kind = Launch::Kind::inherited_fd;
  launch.fd = *fd;
  return launch;
}

Result<Launch> launch_of_port(const Getenv& get, std::string_view address) {
  Launch launch;
  if (of_a_rank(get, launch)) return launch;
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

std::string Features::text() const {
  return "socket=" + std::to_string(socket) + ";vallen=" + std::to_string(vallen_max) +
         ";universe=" + std::to_string(universe_size) + ";appnum=" + std::to_string(appnum) +
         ";runs=" + std::to_string(runs) + ";nodes=" + nodes.text();
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
    } else if (key == "runs") {
      taken = take(features.runs, std::numeric_limits<std::uint32_t>::max());
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
  launch.why_none = "neither PMI_FD nor PMI_PORT is set: no PMI launcher started this process";
  return launch;
}

}  // namespace starling::pmi

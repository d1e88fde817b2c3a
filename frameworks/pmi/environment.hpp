// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the environment says about who started this process. Layer: framework; used by the pmi plugins
/// and mpiexec.
///
/// The one place that knows which variable means what, so that "nobody offers PMI, I am alone" and "somebody
/// does, but it does not work" are never mixed up: the second must be an error, or N processes would each
/// believe to be rank 0 of 1.
///
/// Threads:   functions of their arguments; getenv itself must not race with setenv.
/// Errors:    bad_input names variable and value.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "frameworks/pmi/node_map.hpp"

namespace starling::pmi {

/// Reads one variable: null if it is not set. Tests pass their own.
using Getenv = std::function<const char*(const char* name)>;
[[nodiscard]] Getenv process_environment();

/// What Starling's mpiexec tells its ranks up front (STARLING_PMI_FEATURES), so that start-up needs no
/// questions. Its presence also means: get() before a fence, cmd=idle and cmd=busy, percent-encoded abort
/// messages.
struct Features {
  std::uint64_t socket = 0;  ///< inode of the rank's end of the connection: tells PMI_FD from a reused number
  std::size_t vallen_max = 0;  ///< longest value that this server takes from Starling's client
  std::uint32_t universe_size = 0;
  std::uint32_t appnum = 0;
  NodeMap nodes;

  [[nodiscard]] std::string text() const;  ///< `socket=1;vallen=2;...`
  [[nodiscard]] static Result<Features> parse(std::string_view text);
};

/// How this process can reach a PMI-1 server.
struct Launch {
  enum class Kind : std::uint8_t { none, inherited_fd, tcp_port };
  Kind kind = Kind::none;
  int fd = -1;                       ///< inherited_fd
  std::string host, port, id;        ///< tcp_port
  std::optional<Features> features;  ///< the server is Starling's mpiexec
  std::string why_none;              ///< none: for people
};

/// An Error if a variable is set and makes no sense.
[[nodiscard]] Result<Launch> launch_of(const Getenv& get);

/// Set if the environment shows that a launcher started several processes: why this one must not run alone,
/// and what to do. A child of one of Starling's own ranks (STARLING_JOB is set) may run alone.
[[nodiscard]] std::optional<std::string> why_not_alone(const Getenv& get);

}  // namespace starling::pmi

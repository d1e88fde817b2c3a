// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Where the environment says that a PMI-1 or PMI-2 server is. Layer: framework; used by the pmi
/// plugins and mpiexec. Which launcher left which variables, and what that proves: launchers.hpp.
///
/// Threads:   functions of their arguments; getenv itself must not race with setenv.
/// Errors:    bad_input names variable and value.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/node_map.hpp"
#include "core/result.hpp"
#include "frameworks/pmi/launchers.hpp"

namespace starling::pmi {

/// What Starling's mpiexec tells its ranks up front (STARLING_PMI_FEATURES), so that start-up needs no
/// questions. Its presence also means: get() before a fence, cmd=idle and cmd=busy, percent-encoded abort
/// messages.
struct Features {
  std::uint64_t socket = 0;  ///< inode of the rank's end of the connection: tells PMI_FD from a reused number
  std::size_t vallen_max = 0;  ///< longest value that this server takes from Starling's client
  std::uint32_t universe_size = 0;
  std::uint32_t appnum = 0;
  std::uint32_t runs = 0;  ///< 1: ranks of fences may be written as runs (rank_list.hpp)
  NodeMap nodes;

  [[nodiscard]] std::string text() const;  ///< `socket=1;vallen=2;...`
  [[nodiscard]] static Result<Features> parse(std::string_view text);
};

/// How this process can reach a server of PMI-1 or PMI-2.
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

}  // namespace starling::pmi

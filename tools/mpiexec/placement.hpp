// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which rank runs what, on which (virtual) node, on which processors. Layer: tools.
///
/// Threads: one. Errors: bad_parameter says what was asked and what this machine has.

#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/node_map.hpp"
#include "tools/mpiexec/options.hpp"

namespace starling::mpiexec {

struct JobLayout {
  std::uint32_t size = 0;
  NodeMap nodes;
  std::vector<std::uint32_t> program;     ///< by rank: index into Options::programs
  std::vector<std::uint32_t> node;        ///< by rank
  std::vector<std::uint32_t> local_rank;  ///< by rank
  std::vector<std::uint32_t> local_size;  ///< by node
};

/// Checks that every host is this machine and gives the number of slots named (0: none named).
[[nodiscard]] Result<std::uint32_t> check_hosts(const std::vector<std::string>& hosts);

[[nodiscard]] Result<JobLayout> lay_out(const Options& options, std::uint32_t slots);

/// The processor sets of one kind that this process may use, in the machine's order; empty for Bind::none.
[[nodiscard]] std::vector<cpu_set_t> places(Bind bind);

}  // namespace starling::mpiexec

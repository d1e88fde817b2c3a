// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which rank runs what, on which (virtual) node. Layer: tools.
///
/// Threads: one. Errors: bad_parameter says what was asked and what this machine has.

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

/// What the hosts offer that the command line names.
struct Offer {
  std::uint32_t slots = 0;  ///< 0: no host is named
  std::uint32_t hosts = 1;
};

/// Checks that every host is this machine.
[[nodiscard]] Result<Offer> check_hosts(const std::vector<std::string>& hosts);

/// The number of ranks of a program alone that says none: as many on each of `nodes` as -ppn says, else the
/// slots. 0: nothing says it.
[[nodiscard]] std::uint64_t ranks_if_unsaid(const Options& options, std::uint32_t slots, std::uint64_t nodes);

[[nodiscard]] Result<JobLayout> lay_out(const Options& options, const Offer& offer);

/// -stdin names a rank that exists.
[[nodiscard]] Result<void> check_input(const InputTo& input, std::uint64_t ranks);

/// --display-map: a line for each rank.
[[nodiscard]] std::string map_text(const JobLayout& layout, const std::vector<cpu_set_t>& bound,
                                   const std::string& host);

/// Turns ppr:N:UNIT into a number of ranks for each node, which is this machine.
[[nodiscard]] Result<void> resolve_per_object(PlacementWords& place, const Machine& machine);

}  // namespace starling::mpiexec

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which rank runs on which of several hosts. Layer: tools.
///
/// mpiexec decides it itself and tells every engine the result, since each engine has rules of its own for
/// the same words. More ranks than slots are allowed, as on one machine.
///
/// Threads: one. Errors: bad_parameter says what does not fit where.

#include <cstdint>
#include <vector>

#include "core/result.hpp"
#include "tools/mpiexec/hosts.hpp"
#include "tools/mpiexec/options.hpp"

namespace starling::mpiexec {

/// Ranks of a job whose command line may leave the number open: `slots` is the default of a single program.
[[nodiscard]] std::vector<std::uint32_t> ranks_of_programs(const Options& options, std::uint32_t slots);

/// For each rank the index of its host.
///
/// -ppn: that number on each host, in their order. Else hosts with slots are filled by them, and once more
/// when all are full; hosts without any get equal blocks. -map-by node: in turn, hosts that are full left
/// out.
[[nodiscard]] Result<std::vector<std::uint32_t>> spread(const Options& options,
                                                        const std::vector<Host>& hosts, std::uint32_t ranks);

}  // namespace starling::mpiexec

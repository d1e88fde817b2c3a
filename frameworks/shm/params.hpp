// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of the node segment; every process of a job and its mpiexec must see the same values.
/// Layer: framework.

#include <array>

#include "params/registry.hpp"

namespace starling::shm {

inline constexpr std::array<params::Decl, 2> kSegmentParams = {
    params::size_bytes(
        "shm_area_bytes", "16k", 4096, 16 << 20,
        "Shared memory of each process for first messages from others. Larger when hundreds of processes "
        "on one node all write to one of them at once."),
    params::size_bytes("shm_arena_bytes", "0", 0, std::int64_t{1} << 42,
                       "Largest amount of shared memory of one node for queues between processes; only what "
                       "is used takes memory. "
                       "0: 64 MiB and 4 MiB per process, at most 4 GiB."),
};

/// Declares them in `registry` (owner "shm"); doing it again changes nothing.
[[nodiscard]] Result<void> register_params(params::Registry& registry);

}  // namespace starling::shm

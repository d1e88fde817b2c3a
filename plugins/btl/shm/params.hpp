// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of btl/shm. Layer: plugin.

#include <array>

#include "params/decl.hpp"

namespace starling::btl {

inline constexpr params::Decl kLaneAfter = params::integer(
    "shm_lane_after", "4", 0, 1 << 20,
    "Messages to a peer on the same node that go through its common queue before a queue of its own is made "
    "for the pair. Larger saves memory when each process talks to many others, a little.");
inline constexpr params::Decl kLaneFirstBytes = params::size_bytes(
    "shm_lane_first", "4k", 4096, 16 << 20,
    "Size at which the queue of a pair of processes starts; rounded up to a power of two. It grows when it "
    "was found full.");
inline constexpr params::Decl kLaneMaxBytes = params::size_bytes(
    "shm_lane_max", "512k", 4096, 16 << 20,
    "Size up to which the queue of a pair of processes grows; rounded up to a power of two.");
inline constexpr params::Decl kLaneCleaning = params::choice(
    "shm_lane_cleaning", "auto", "auto|idle|never|always",
    "Whether the receiver takes the cache lines of long messages (from 4 KiB on) over before it gives the "
    "queue's room back: faster on some processors, slower on others. idle: when nothing more has come, so "
    "not in a stream. auto: tries these on the first 18 megabytes and from time to time.");
inline constexpr params::Decl kLanesTotalBytes = params::size_bytes(
    "shm_lanes_total_bytes", "256m", 0, std::int64_t{1} << 42,
    "Shared memory of one node above which queues grow only where a message would not fit otherwise.");
inline constexpr params::Decl kMemoryWaitSeconds = params::integer(
    "shm_memory_wait", "10", 0, 86400,
    "Seconds for which a message waits that needs shared memory when there is none left; then the peer is "
    "reported as lost, with the cause.");
inline constexpr params::Decl kUseCma = params::boolean(
    "shm_cma", "yes",
    "Whether large messages may be copied straight from the other process's memory (process_vm_readv), where "
    "the system allows it.");

inline constexpr params::Decl kMap = params::choice(
    "shm_map", "auto", "auto|never|always",
    "Whether large messages are copied out of the other process's memory by mapping it, where that came from "
    "MPI_Alloc_mem. auto: as was faster, for each size, than the system call of shm_cma; tried again from "
    "time to time.");
inline constexpr params::Decl kMapsMost = params::integer(
    "shm_maps", "64", 0, 65536,
    "Pieces of other processes' memory that a process keeps mapped; the one that was not used for longest "
    "goes first.");

inline constexpr std::array kShmDecls = {kLaneAfter,       kLaneFirstBytes,    kLaneMaxBytes, kLaneCleaning,
                                         kLanesTotalBytes, kMemoryWaitSeconds, kUseCma,       kMap,
                                         kMapsMost};

}  // namespace starling::btl

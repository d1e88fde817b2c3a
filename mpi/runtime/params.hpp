// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of the runtime. Layer: mpi.

#include <array>

#include "params/decl.hpp"

namespace starling::mpi {

enum class ProgressChoice { automatic = 0, off = 1, on = 2 };

enum class BarrierChoice { automatic = 0, always = 1, never = 2 };

inline constexpr params::Decl kAddProcsCutoff =
    params::integer("mpi_add_procs_cutoff", "0", 0, 1'000'000'000,
                    "Jobs with fewer processes than this make all their peers when a communicator is made; "
                    "from it on, peers are made "
                    "on first message.");
inline constexpr params::Decl kAsyncModex = params::equal_everywhere(
    params::boolean("async_modex", "0",
                    "Fetch addresses at first contact instead of with a fence, where the process manager can "
                    "(else the plan says why not).",
                    "pmix_base_async_modex"));
inline constexpr params::Decl kInitBarrier = params::equal_everywhere(
    params::choice("init_barrier", "auto", "auto|always|never",
                   "Barrier at the end of MPI_Init: auto runs it only if an active transport would lose "
                   "messages without it."));
inline constexpr params::Decl kFinalizeBarrier = params::equal_everywhere(
    params::choice("finalize_barrier", "auto", "auto|always|never",
                   "Barrier at the start of MPI_Finalize: auto runs it only if an active transport must be "
                   "drained by its peers."));
inline constexpr params::Decl kStartupReport = params::equal_everywhere(
    params::boolean("startup_report", "0",
                    "Rank 0 prints the startup plan, the time of each phase, PMI operations, peers and "
                    "memory when MPI_Init ends."));
inline constexpr params::Decl kReport = params::equal_everywhere(
    params::boolean("report", "0",
                    "When MPI_Finalize ends, rank 0 prints which transport and protocol carried the messages "
                    "to self, within nodes and beyond, how many and how large, and why not others."));
inline constexpr params::Decl kSpin = params::integer(
    "wait_spin_us", "-1", -1, 1'000'000,
    "Microseconds that a waiting process polls before it gives its core away; -1: 100, or 0 when "
    "the node has more ranks than cores, or others of them run on its core.");
inline constexpr params::Decl kYield = params::integer(
    "wait_yield_us", "-1", -1, 1'000'000,
    "Microseconds that a waiting process then yields its core between polls before it sleeps; "
    "-1: 900, or 500 and 50 for each rank in the same cases.");

inline constexpr params::Decl kAllocMemSharedMin = params::size_bytes(
    "alloc_mem_shared_min", "64k", 0, std::int64_t{1} << 40,
    "From this many bytes on, MPI_Alloc_mem gives memory that the other processes of the node can map: large "
    "messages from there take one copy and no system call. Each piece takes a descriptor. 0: never.");

inline constexpr params::Decl kRecvPool = params::size_bytes(
    "recv_pool_bytes", "64m", 0, std::int64_t{1} << 40,
    "Memory that a process keeps for receive buffers that the library provides (mpix.h). It is taken from "
    "the system as it is used, and others of the node can map it. What has no room there is ordinary "
    "memory.");

inline constexpr params::Decl kProgressThread =
    params::choice("progress_thread", "auto", "auto|off|on",
                   "A thread that makes progress while the program computes, and sleeps otherwise: on in "
                   "every process; auto once something needs it; off never. While it is there, each MPI "
                   "call takes a lock, some 10 to 20 ns (told by startup_report).");

enum class PathChoice { automatic = 0, copy = 1, message = 2 };

inline constexpr params::Decl kOnesidedPath = params::equal_everywhere(params::choice(
    "onesided_path", "auto", "auto|copy|message",
    "How one-sided operations reach other processes: auto uses mapped memory where it can, then copies by "
    "the kernel (process_vm_readv and writev) within a node, then messages; copy does without mapped memory, "
    "message uses messages only. Windows of MPI_Win_allocate_shared are mapped whatever it says."));

inline constexpr params::Decl kOnesidedCheck = params::equal_everywhere(params::boolean(
    "onesided_check", "0",
    "Compare the puts, gets and accumulates of one epoch at each target of a window, and tell "
    "on stderr which overlap in a way that leaves the outcome undefined: ranks and ranges."));

inline constexpr std::array kRuntimeParams = {
    kAddProcsCutoff, kAsyncModex,        kInitBarrier, kFinalizeBarrier, kStartupReport, kReport,       kSpin,
    kYield,          kAllocMemSharedMin, kRecvPool,    kProgressThread,  kOnesidedPath,  kOnesidedCheck};

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What is in a node's shared segment: a header, a slot and an ingress area per process, an arena.
/// Layer: framework.
///
///     Header | ProcSlot[local_size] | per-process areas[local_size] | arena (extents, reserved on demand)
///
/// All-zero bytes are the valid initial state of everything but the header, so nobody has to initialise for
/// others.
///
/// Threads:   slots: see each field. The arena's allocate and free are lock-free, by any process.
/// Ownership: a NodeSegment owns mapping and descriptor; offsets handed out stay valid for the life of the
///            segment.
/// Errors:    allocate() of a full segment, memory limit or /dev/shm is Errc::no_space: pages are reserved
///            first (fallocate), so that touching them later never raises SIGBUS.
/// Units:     bytes; offsets count from the segment's start, 0 is "none".

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/shm/shm.hpp"

namespace starling::shm {

inline constexpr std::uint32_t kLayoutVersion = 11;

/// Words for what the processes of a node have found out about it and share.
inline constexpr std::uint32_t kFindingsMost = 160;

/// Deaths on other nodes that a segment has room for; of more the network alone tells.
inline constexpr std::uint32_t kFarDeathsMost = 20;

/// State of one local process, written by itself (or by mpiexec after its end): exited while others counted
/// on it, or ended after it had left in order.
enum class ProcState : std::uint32_t { absent = 0, attached = 1, left = 2, exited = 3, ended = 4 };

/// One cache-line group per local process.
struct alignas(128) ProcSlot {
  std::atomic<std::uint32_t> state;  ///< ProcState; release by its process, or by mpiexec when it reaped it
  std::atomic<std::uint32_t> pid;
  std::atomic<std::uint64_t> start_time;  ///< field 22 of /proc/pid/stat: tells a reused pid apart
  std::uint64_t pid_namespace;            ///< inode; a pid says something only to processes with the same one
  std::atomic<std::uint64_t> memory;  ///< where the table of its memory begins (memory/table.hpp); 0: none
  std::byte pad0[32];
  std::atomic<std::uint32_t> doorbell;   ///< futex word: incremented by producers that found `asleep` set
  std::atomic<std::uint32_t> attention;  ///< kAsleep and other bits of doorbell.hpp: read by producers
  std::byte pad1[56];
  char waiting[768];  ///< what it waits for, in lines, NUL-terminated, refreshed on request (hang help)
  std::atomic<std::uint32_t> report_wanted;  ///< incremented by mpiexec: please refresh `waiting`
  std::atomic<std::uint32_t> report_done;    ///< set to report_wanted when done
  std::atomic<std::uint64_t> bell;           ///< name of its Bell (bell.hpp); 0: it sleeps on the futex alone
  std::atomic<std::uint32_t> waker_core;     ///< 1 + the core of who rang in the last sleep; 0: nobody
  std::byte pad2[44];
  std::atomic<std::uint64_t> busy_until;  ///< kBusy, or when it was last outside MPI's waits for long
  std::byte pad3[56];
};
static_assert(sizeof(ProcSlot) == 1024);
/// ProcSlot::busy_until of a process that does not wait at present (mpi/runtime/busy.hpp).
inline constexpr std::uint64_t kBusy = ~std::uint64_t{0};

/// Until when the processes of the node sleep rather than yield while they wait (mpi/runtime/yields.hpp), and
/// for how long that was. Nanoseconds of CLOCK_MONOTONIC; relaxed.
struct YieldPause {
  std::atomic<std::uint64_t> until_ns;
  std::atomic<std::uint64_t> length_ns;
  std::atomic<bool> nodes_here;  ///< ranks of other nodes are on this machine
};

/// What every process of the node must agree on; part of the header and compared at attach.
struct Geometry {
  std::uint32_t local_size = 1;
  std::uint32_t area_bytes = 0;   ///< per-process area (btl/shm's ingress), a multiple of 4096
  std::uint64_t arena_bytes = 0;  ///< sparse
  [[nodiscard]] std::size_t total_bytes() const noexcept;
};

/// The geometry that parameters shm_area_bytes and shm_arena_bytes give for a number of local processes;
/// mpiexec uses the same.
[[nodiscard]] Geometry geometry_from(const params::Registry& params, std::uint32_t local_size);

/// The number by which processes of one job recognise their segment; every process computes the same from the
/// job's name.
[[nodiscard]] std::uint64_t job_nonce(std::string_view job) noexcept;

/// An initialised segment without a name: what mpiexec hands to its ranks. Close-on-exec; its size is sealed.
/// `name` is only for people (/proc/<pid>/fd).
[[nodiscard]] Result<UniqueFd> create_memfd(const char* name, const Geometry& geometry, std::uint64_t nonce);

class NodeSegment {
 public:
  /// For whoever wins creation: sets the size, reserves the pages of header and slots, writes the header,
  /// raises ready.
  [[nodiscard]] static Result<void> initialise(int fd, const Geometry& geometry, std::uint64_t job_nonce);
  /// Wraps an attached segment: checks ready, layout version, geometry and size; registers nothing yet.
  [[nodiscard]] static Result<NodeSegment> open(Segment segment, const Geometry& geometry,
                                                std::uint32_t local_rank);

  NodeSegment(NodeSegment&&) noexcept;
  NodeSegment& operator=(NodeSegment&&) noexcept;
  ~NodeSegment();

  /// Marks the own slot attached (pid, start time) or left.
  void enter() noexcept;
  void leave() noexcept;

  [[nodiscard]] std::uint32_t local_size() const noexcept;
  [[nodiscard]] std::uint32_t local_rank() const noexcept;
  [[nodiscard]] ProcSlot& slot(std::uint32_t local_rank) noexcept;
  /// The per-process area of btl/shm, zero at first; its pages are reserved by reserve_area before they are
  /// touched.
  [[nodiscard]] std::byte* area(std::uint32_t local_rank) noexcept;
  [[nodiscard]] std::size_t area_bytes() const noexcept;
  [[nodiscard]] Result<void> reserve_area(std::uint32_t local_rank);

  /// Reserves `bytes` (rounded up to pages, and by less than a quarter) from the arena; the bytes are not
  /// cleared.
  [[nodiscard]] Result<std::uint64_t> allocate(std::size_t bytes);
  void release(std::uint64_t offset, std::size_t bytes) noexcept;
  [[nodiscard]] std::byte* at(std::uint64_t offset) noexcept;
  /// Bytes of the arena in use now, by everybody.
  [[nodiscard]] std::uint64_t arena_used() const noexcept;

  /// False only if the process of that slot is known to be dead: mpiexec reaped it, or its pid is gone or is
  /// somebody else's by now. One that has not come yet, has left in order, or lives in another pid namespace
  /// counts as alive. May read /proc.
  [[nodiscard]] bool alive(std::uint32_t local_rank) noexcept;

  /// Marks the process of that slot as ended, in order if it has left, and wakes everybody: for mpiexec,
  /// after it has reaped it.
  void mark_ended(std::uint32_t local_rank) noexcept;
  /// How many have been marked: whoever remembers it need not look at every slot again.
  [[nodiscard]] std::uint32_t ends() const noexcept;
  /// How many of them had not left in order.
  [[nodiscard]] std::uint32_t deaths() const noexcept;

  /// A process of another node has died: for mpiexec, which tells it here and wakes everybody.
  void tell_far_death(std::uint32_t rank) noexcept;
  /// How many have been told, and the rank of each in its world.
  [[nodiscard]] std::uint32_t far_deaths() const noexcept;
  [[nodiscard]] std::uint32_t far_death(std::uint32_t index) const noexcept;

  [[nodiscard]] YieldPause& yield_pause() noexcept;
  /// Where the board of common copies begins (claims/board.hpp); 0: there is none.
  [[nodiscard]] std::atomic<std::uint64_t>& board() noexcept;
  /// Zero at first; each word for itself, relaxed.
  [[nodiscard]] std::span<std::atomic<std::uint64_t>> findings() noexcept;

  /// Wakes the process of that slot if it sleeps. Cheap if not: one load after a fence.
  void ring(std::uint32_t local_rank) noexcept;
  /// Whether the process of that slot sleeps and awaits that (doorbell.hpp); after publishing it. As cheap.
  [[nodiscard]] bool awaits(std::uint32_t local_rank, std::uint32_t what) noexcept;
  /// For producers that have fenced and seen kAsleep already.
  void wake(std::uint32_t local_rank) noexcept;
  /// Sleeping on the own doorbell. prepare_sleep announces it and returns the value to wait on; the caller
  /// polls everything once more, then sleeps or not. The announcement stays until a producer rings or
  /// cancel_sleep: call that when no thread of this process sleeps any more.
  /// `awaited`: what it may be woken for besides messages.
  [[nodiscard]] std::uint32_t prepare_sleep(std::uint32_t awaited = 0) noexcept;
  /// Makes all registered processes pass a full fence, behind another request in the own attention word.
  void fence_all() noexcept;
  /// Whether this process takes part in such fences: since enter(), where the system allows it.
  [[nodiscard]] bool registered_for_fences() const noexcept;
  /// Returns when rung, at the limit (at most 1 s), or for no reason. Whether it was the limit.
  bool sleep(std::uint32_t value, std::uint64_t limit_ns) noexcept;
  void cancel_sleep() noexcept;
  /// Whether the last sleep was ended from the core that this process runs on now.
  [[nodiscard]] bool woken_from_own_core() const noexcept;
  /// For a process that also waits for descriptors: from here on whoever rings makes bell_fd() readable too,
  /// until the bell is silenced. Once; after an Error only the futex is left.
  [[nodiscard]] Result<void> open_bell();
  /// -1 without a bell.
  [[nodiscard]] int bell_fd() const noexcept;
  void silence_bell() noexcept;

 private:
  struct State;
  explicit NodeSegment(State* state) noexcept : state_(state) {}
  State* state_ = nullptr;
};

}  // namespace starling::shm

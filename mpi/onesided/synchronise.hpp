// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Epochs of windows: fences, locks, flushes. Layer: mpi. MPI 5.0 section 12.5.
/// docs/design/onesided.md
///
/// On mapped and copied memory an operation is complete when its call returns: what is left to do is order,
/// between processes, and to tell wrong programs. For targets by messages, it is waited for.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ordering:  what was done to a window's memory before a call that ends an epoch is visible to who begins
///            one after it.
/// Errors:    MPI_ERR_RMA_SYNC for calls that do not fit what is open; MPI_ERR_PROC_ABORTED if a member that
///            is waited for has died.

#include <atomic>
#include <cstdint>

#include "mpi/onesided/window.hpp"

namespace starling::mpi {

/// MPI_SUCCESS, or what is open at this window and must be closed first.
[[nodiscard]] int none_open(const Win& win);
/// A fence may have opened an epoch; it counts only if operations have followed. Else it is closed.
[[nodiscard]] int check_fence(Win& win);
/// Returns when all members have called it. `function`: that the program has called, for hang help.
[[nodiscard]] int member_barrier(Win& win, const char* function);

[[nodiscard]] int fence(Win& win, int assertion);
[[nodiscard]] int lock(Win& win, int type, std::uint32_t rank, int assertion);
[[nodiscard]] int unlock(Win& win, std::uint32_t rank);
[[nodiscard]] int lock_all(Win& win, int assertion);
[[nodiscard]] int unlock_all(Win& win);

/// MPI_SUCCESS if a lock is held (of this target), so that a flush may be asked for.
[[nodiscard]] int check_passive(const Win& win);
[[nodiscard]] inline int check_passive(const Win& win, std::uint32_t rank);
/// Completes the operations on a target, or on all: at the target too, or (`here`) as far as the program's
/// buffers go. Orders loads and stores of this process, and lets messages move now and then.
[[nodiscard]] inline int flush(Win& win, std::uint32_t rank, bool here, const char* function);
[[nodiscard]] int flush_all(Win& win, bool here, const char* function);

/// For calls that end an epoch on mapped memory, and so wait for nobody: a program that repeats them until it
/// finds what another one stores has to let messages move, in one call of many.
inline void poll_now_and_then(Win& win, const char* function);

/// Notes that no epoch to this target is open, or no lock is held.
[[nodiscard, gnu::cold]] int no_epoch(const Win& win, std::uint32_t rank);
[[nodiscard, gnu::cold]] int no_lock(const Win& win, std::uint32_t rank);

/// Whether operations on a target may be called now.
[[nodiscard]] inline bool accessible(Win& win, std::uint32_t rank) noexcept {
  Win::Epochs& epochs = win.epochs;
  epochs.used = true;
  return epochs.fence || epochs.lock_all || epochs.held[rank] > Win::Held::pending;
}

inline int check_passive(const Win& win, std::uint32_t rank) {
  const Win::Held held = win.epochs.held[rank];
  if (win.epochs.lock_all || (held > Win::Held::pending && held != Win::Held::started)) [[likely]]
    return MPI_SUCCESS;
  return no_lock(win, rank);
}

/// After how many calls one lets messages move: a program that waits by MPI_Get and MPI_Win_flush, or by
/// taking its own lock, has to answer others, too (section 12.7.3).
inline constexpr std::uint32_t kCallsPerPoll = 64;
[[gnu::cold]] void poll_now(const char* function);
inline void poll_now_and_then(Win& win, const char* function) {
  if (++win.epochs.calls % kCallsPerPoll == 0) [[unlikely]]
    poll_now(function);
}

/// What a flush does beyond order: for messages, and for the check for overlaps.
[[nodiscard]] int flush_beyond(Win& win, std::uint32_t rank, bool here, const char* function);
inline int flush(Win& win, std::uint32_t rank, bool here, const char* function) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  poll_now_and_then(win, function);
  return win.overlaps == nullptr && win.part == nullptr ? MPI_SUCCESS
                                                        : flush_beyond(win, rank, here, function);
}

}  // namespace starling::mpi

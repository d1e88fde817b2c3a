// SPDX-License-Identifier: BSD-3-Clause
// Epochs of windows. Layer: mpi. MPI 5.0 section 12.5.

#include "mpi/onesided/synchronise.hpp"

#include <atomic>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/error.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi::api {
namespace {

bool is_member(const Win& win, int rank) noexcept {
  return rank >= 0 && static_cast<std::uint32_t>(rank) < win.size();
}

/// Programs that send to MPI_PROC_NULL at their edges lock and flush it, too: there is nothing to lock, as
/// there is nothing to transfer (section 12.3).
bool is_nobody(int rank) noexcept { return rank == MPI_PROC_NULL; }

int no_member(const Win& win, int rank) {
  return error(MPI_ERR_RANK, "rank is " + std::to_string(rank) + ", expected 0.." +
                                 std::to_string(win.size() - 1) + " or MPI_PROC_NULL");
}

int flush_one(const char* function, int rank, bool here, Win& win) {
  if (is_nobody(rank)) return MPI_SUCCESS;
  if (!is_member(win, rank)) return no_member(win, rank);
  const auto target = static_cast<std::uint32_t>(rank);
  const int rc = check_passive(win, target);
  return rc == MPI_SUCCESS ? flush(win, target, here, function) : rc;
}

int flush_each(const char* function, bool here, Win& win) {
  const int rc = check_passive(win);
  return rc == MPI_SUCCESS ? flush_all(win, here, function) : rc;
}

}  // namespace

int Win_fence(int assert, Win& win) { return fence(win, assert); }

int Win_lock(int lock_type, int rank, int assert, Win& win) {
  if (is_nobody(rank)) return MPI_SUCCESS;
  if (!is_member(win, rank)) return no_member(win, rank);
  return lock(win, lock_type, static_cast<std::uint32_t>(rank), assert);
}

int Win_unlock(int rank, Win& win) {
  if (is_nobody(rank)) return MPI_SUCCESS;
  return is_member(win, rank) ? unlock(win, static_cast<std::uint32_t>(rank)) : no_member(win, rank);
}

int Win_lock_all(int assert, Win& win) { return lock_all(win, assert); }

int Win_unlock_all(Win& win) { return unlock_all(win); }

int Win_flush(int rank, Win& win) { return flush_one(names::Win_flush, rank, false, win); }
int Win_flush_local(int rank, Win& win) { return flush_one(names::Win_flush_local, rank, true, win); }
int Win_flush_all(Win& win) { return flush_each(names::Win_flush_all, false, win); }
int Win_flush_local_all(Win& win) { return flush_each(names::Win_flush_local_all, true, win); }

/// A program that waits for another one's store calls it in a loop: so messages move, and on a crowded node
/// the core is given away.
int Win_sync(Win&) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Runtime::get()->waits().poll(names::Win_sync);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api

// SPDX-License-Identifier: BSD-3-Clause
// Fences and flushes. Layer: mpi. MPI 5.0 section 12.5; docs/design/onesided.md

#include "mpi/onesided/synchronise.hpp"
#include "mpi/onesided/part.hpp"

#include <atomic>
#include <string>

#include "mpi/coll/node/algorithms.hpp"
#include "mpi/error.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// At a board, before the first pass of progress: its usual number takes longer than who asks for an active
/// message waits.
constexpr std::uint32_t kLooksWithActiveMessages = 8;

std::string what_is_open(const Win& win) {
  const Win::Epochs& epochs = win.epochs;
  if (epochs.started) return "MPI_Win_start has been called, and MPI_Win_complete not";
  if (epochs.posted) return "MPI_Win_post has been called, and MPI_Win_wait not";
  if (epochs.lock_all) return "MPI_Win_lock_all has been called, and MPI_Win_unlock_all not";
  for (std::uint32_t rank = 0; rank < win.size(); ++rank) {
    if (epochs.held[rank] == Win::Held::nothing) continue;
    return "target " + std::to_string(rank) + " is locked, and not yet unlocked";
  }
  return {};
}

}  // namespace

int none_open(const Win& win) {
  const std::string open = what_is_open(win);
  if (!open.empty()) return error(MPI_ERR_RMA_SYNC, win.label() + ": " + open);
  if (win.epochs.fence && win.epochs.used) {
    return error(MPI_ERR_RMA_SYNC, win.label() +
                                       ": operations were called since the last MPI_Win_fence, which another "
                                       "one has to complete first");
  }
  return MPI_SUCCESS;
}

int check_fence(Win& win) {
  if (win.epochs.fence && win.epochs.used) {
    return error(MPI_ERR_RMA_SYNC, win.label() +
                                       ": operations were called since the last MPI_Win_fence; "
                                       "expected one with MPI_MODE_NOSUCCEED first");
  }
  win.epochs.fence = false;
  return MPI_SUCCESS;
}

int member_barrier(Win& win, const char* function) {
  Comm& comm = win.comm();
  if (comm.size() == 1) return MPI_SUCCESS;
  const coll::Form form = coll::blocking(function);
  if (coll::node::Board* const board = coll::NodeTeam::board(form, comm)) {
    if (win.active_messages != nullptr) board->look_at_most(kLooksWithActiveMessages);
    return on_window(coll::NodeTeam::ended(comm, *board, coll::node::barrier(*board)));
  }
  auto build = [](coll::Schedule& schedule, const coll::Team& team) { coll::barrier(schedule, team); };
  return on_window(coll::launch(form, comm, coll::Used{}, build));
}

int fence(Win& win, int assertion) {
  constexpr int kKnown = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  if ((assertion & ~kKnown) != 0) {
    return error(MPI_ERR_ASSERT, "assert is " + std::to_string(assertion) +
                                     ", expected 0 or some of MPI_MODE_NOSTORE, NOPUT, NOPRECEDE, NOSUCCEED");
  }
  const std::string open = what_is_open(win);
  if (!open.empty()) return error(MPI_ERR_RMA_SYNC, win.label() + ": " + open);
  Win::Epochs& epochs = win.epochs;
  const bool precede = (assertion & MPI_MODE_NOPRECEDE) == 0;
  if (!precede && epochs.fence && epochs.used) {
    return error(MPI_ERR_RMA_SYNC, win.label() +
                                       ": MPI_MODE_NOPRECEDE, although operations were called since the last "
                                       "MPI_Win_fence");
  }
  const bool succeed = (assertion & MPI_MODE_NOSUCCEED) == 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const int done = win.part ? win.part->flush_all(false, names::Win_fence) : MPI_SUCCESS;
  const std::string detail(done == MPI_SUCCESS ? std::string_view() : last_error_detail());
  // One barrier both completes what was before and keeps what follows from coming too early.
  if (precede || succeed) {
    if (const int rc = member_barrier(win, names::Win_fence); rc != MPI_SUCCESS) return rc;
  }
  epochs.fence = succeed;
  if (win.overlaps) win.overlaps->fenced();
  epochs.used = false;
  return done == MPI_SUCCESS ? done : error(done, detail);
}

int check_passive(const Win& win) {
  if (win.epochs.lock_all || win.epochs.locks != 0) return MPI_SUCCESS;
  return error(MPI_ERR_RMA_SYNC, win.label() + ": no target is locked; expected MPI_Win_lock or lock_all");
}

void poll_now(const char* function) { Runtime::get()->waits().poll(function); }

int flush_beyond(Win& win, std::uint32_t rank, bool here, const char* function) {
  if (win.overlaps) win.overlaps->completed();
  return win.part ? win.part->flush(rank, here, function) : MPI_SUCCESS;
}

int flush_all(Win& win, bool here, const char* function) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (win.overlaps) win.overlaps->completed();
  poll_now_and_then(win, function);
  return win.part ? win.part->flush_all(here, function) : MPI_SUCCESS;
}

int no_lock(const Win& win, std::uint32_t rank) {
  return error(MPI_ERR_RMA_SYNC,
               win.label(rank) + ": it is not locked; expected MPI_Win_lock or MPI_Win_lock_all");
}

int no_epoch(const Win& win, std::uint32_t rank) {
  return error(MPI_ERR_RMA_SYNC, win.label(rank) +
                                     ": no access epoch is open; expected MPI_Win_fence, MPI_Win_start, "
                                     "MPI_Win_lock or MPI_Win_lock_all before");
}

}  // namespace starling::mpi

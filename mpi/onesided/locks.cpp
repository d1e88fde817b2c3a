// SPDX-License-Identifier: BSD-3-Clause
// Locks of windows. What is hard: who holds a lock of the window and wants another one must not wait behind
// those who wait for what it holds, so it goes before them; and a member that dies frees what it held.
// Layer: mpi. MPI 5.0 section 12.5.3; docs/design/onesided.md

#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "mpi/error.hpp"
#include "mpi/error_class.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/onesided/lock_place.hpp"
#include "mpi/onesided/part.hpp"
#include "mpi/onesided/synchronise.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi {
namespace {

using Lock = Control::Lock;

/// One taking of a lock, from the queue on.
class Queued {
 public:
  Queued(Win& win, const LockPlace& place, Side side, std::string what)
      : win_(win), place_(place), lock_(place.lock), side_(side), what_(std::move(what)) {}

  [[nodiscard]] int take(bool first);

 private:
  [[nodiscard]] std::string describe() const;
  void look();

  /// Who has held the lock while this one waits, and since when it is known to.
  struct Holding {
    std::uint64_t stamp = 0;
    std::uint64_t since_ns = 0;
  };

  Win& win_;
  const LockPlace& place_;
  Lock lock_;
  Side side_;
  std::string what_;
  std::uint64_t next_look_ns_ = 0;
  std::uint32_t dead_ = Lock::kNobody;
  std::vector<Holding> holdings_;  // by slot
};

/// Notes who holds the lock: from then on its age is known.
void Queued::look() {
  holdings_.resize(lock_.size());
  const std::uint64_t now = now_ns();
  for (std::uint32_t slot = 0; slot < lock_.size(); ++slot) {
    const Lock::Doing doing = lock_.doing(slot);
    Holding& seen = holdings_[slot];
    if (!doing.holds) {
      seen.since_ns = 0;
    } else if (seen.since_ns == 0 || seen.stamp != doing.stamp) {
      seen = {doing.stamp, now};
    }
  }
}

/// "MPI_Win_lock of window 'grid' ..., target 1: held exclusively by rank 0 for at least 2.1 s"
std::string Queued::describe() const {
  const char* const how = place_.of == Control::kNode ? "" : "exclusively ";
  std::string text = what_, before = ": held ";
  const std::uint64_t now = now_ns();
  for (std::uint32_t slot = 0; slot < lock_.size(); ++slot) {
    const Lock::Doing doing = lock_.doing(slot);
    if (slot == win_.seat() || !doing.holds) continue;
    text += before + (doing.side == Side::other ? how : "") + "by rank " +
            std::to_string(place_.rank_of(win_, slot));
    if (slot >= win_.control().members()) text += " for a rank elsewhere";
    if (slot < holdings_.size() && holdings_[slot].since_ns != 0 && holdings_[slot].stamp == doing.stamp) {
      std::array<char, 48> age;
      std::snprintf(age.data(), age.size(), " for at least %.1f s",
                    static_cast<double>(now - holdings_[slot].since_ns) / 1e9);
      text += age.data();
    }
    before = ", ";
  }
  return text;
}

int Queued::take(bool first) {
  lock_.queue(side_, first);
  const auto describe_it = [this] { return describe(); };
  const Waiting waiting(describe_it);
  next_look_ns_ = now_ns() + kLifeLookNs;
  bool taken = false;
  Runtime::get()->waits().wait_in_line([&] {
    taken = lock_.try_queued(side_);
    if (taken) return true;
    const std::uint64_t now = now_ns();
    if (now < next_look_ns_) return false;
    next_look_ns_ = now + kLifeLookNs;
    look();
    if (const std::uint32_t dead = free_of_dead(win_, place_); dead != Lock::kNobody) dead_ = dead;
    return dead_ != Lock::kNobody;
  });
  if (!taken) lock_.give_up();
  // With cores enough the next one of the queue is awake by the time that it gets an exclusive lock. On a
  // crowded node it would take a core, to look in vain.
  const bool early = taken && lock_.excludes(side_);
  if (!early || !Runtime::get()->place().crowded()) wake(win_, place_, lock_.next());
  if (taken) return MPI_SUCCESS;
  return error(
      fault_class(peer::Fault::peer_lost),
      what_ + ": rank " + std::to_string(dead_) + " has ended, which held it; what it did may be incomplete");
}

/// `what` gives the text for hang help, and is called only by who has to wait.
template <class What>
int take(Win& win, LockPlace place, Side side, bool first, const What& what) {
  if (place.lock.enter(side, first)) [[likely]]
    return MPI_SUCCESS;
  return Queued(win, place, side, what()).take(first);
}

void give(Win& win, LockPlace place, Side side) noexcept { wake(win, place, place.lock.leave(side)); }

int check_assertion(int assertion) {
  if ((assertion & ~MPI_MODE_NOCHECK) == 0) return MPI_SUCCESS;
  return error(MPI_ERR_ASSERT, "assert is " + std::to_string(assertion) + ", expected 0 or MPI_MODE_NOCHECK");
}

/// Exclusive locks of this process hold the node's lock together.
template <class What>
int take_node_lock(Win& win, bool first, const What& what) {
  Win::Epochs& epochs = win.epochs;
  if (epochs.node_pending) Runtime::get()->waits().wait([&] { return !epochs.node_pending; });
  if (epochs.exclusive == 0) {
    epochs.node_pending = true;
    const int rc = take(win, node_lock_of(win), Side::other, first, what);
    epochs.node_pending = false;
    Runtime::get()->polling().wake();
    if (rc != MPI_SUCCESS) return rc;
  }
  ++epochs.exclusive;
  return MPI_SUCCESS;
}

void give_node_lock(Win& win) noexcept {
  if (--win.epochs.exclusive == 0) give(win, node_lock_of(win), Side::other);
}

int take_locks(Win& win, bool exclusive, std::uint32_t rank) {
  // Who holds a lock goes first: those who wait may wait for what it holds.
  const bool first = win.epochs.locks != 0;
  if (win.target(rank).seat == Target::kElsewhere) {  // with the first operation
    message::Part::of(win).to(rank).want_lock(exclusive, first);
    return MPI_SUCCESS;
  }
  const auto what = [&] { return std::string(names::Win_lock) + " of " + win.label(rank); };
  const LockPlace lock = target_lock_of(win, rank);
  if (!exclusive) return take(win, lock, Side::shared, first, what);
  if (const int rc = take_node_lock(win, first, what); rc != MPI_SUCCESS) return rc;
  const int rc = take(win, lock, Side::other, first, what);
  if (rc != MPI_SUCCESS) give_node_lock(win);
  return rc;
}

}  // namespace

int lock(Win& win, int type, std::uint32_t rank, int assertion) {
  if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED) {
    return error(MPI_ERR_LOCKTYPE,
                 "lock_type is " + std::to_string(type) + ", expected MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED");
  }
  if (const int rc = check_assertion(assertion); rc != MPI_SUCCESS) return rc;
  Win::Epochs& epochs = win.epochs;
  if (epochs.lock_all) {
    return error(MPI_ERR_RMA_SYNC, win.label() + ": all targets are locked already (MPI_Win_lock_all)");
  }
  if (epochs.started) {
    return error(MPI_ERR_RMA_SYNC, win.label() + ": MPI_Win_start has been called, and MPI_Win_complete not");
  }
  if (epochs.held[rank] != Win::Held::nothing) {
    return error(MPI_ERR_RMA_SYNC, win.label(rank) + ": it is locked already");
  }
  if (epochs.posted && rank == win.rank()) {
    return error(MPI_ERR_RMA_SYNC,
                 win.label(rank) + ": it is exposed by MPI_Win_post, so it cannot be locked");
  }
  if (const int rc = check_fence(win); rc != MPI_SUCCESS) return rc;
  const bool exclusive = type == MPI_LOCK_EXCLUSIVE;
  Win::Held held = Win::Held::unchecked;
  if ((assertion & MPI_MODE_NOCHECK) == 0) {
    epochs.held[rank] = Win::Held::pending;
    if (const int rc = take_locks(win, exclusive, rank); rc != MPI_SUCCESS) {
      epochs.held[rank] = Win::Held::nothing;
      return rc;
    }
    held = exclusive ? Win::Held::exclusive : Win::Held::shared;
  }
  epochs.held[rank] = held;
  ++epochs.locks;
  ++epochs.takings;
  return MPI_SUCCESS;
}

int unlock(Win& win, std::uint32_t rank) {
  Win::Epochs& epochs = win.epochs;
  const Win::Held held = epochs.held[rank];
  if (held <= Win::Held::pending || held == Win::Held::started) {
    return error(MPI_ERR_RMA_SYNC, win.label(rank) + ": it is not locked");
  }
  std::atomic_thread_fence(std::memory_order_acq_rel);
  if (win.overlaps) win.overlaps->completed();
  const bool elsewhere = win.target(rank).seat == Target::kElsewhere;
  if (elsewhere) message::Part::of(win).settle(rank, names::Win_unlock);
  if (elsewhere && held != Win::Held::unchecked) message::Part::of(win).to(rank).drop_lock();
  const int rc = win.part ? win.part->flush(rank, false, names::Win_unlock) : MPI_SUCCESS;
  const std::string detail(rc == MPI_SUCCESS ? std::string_view() : last_error_detail());
  if (held != Win::Held::unchecked && !elsewhere) {
    const bool exclusive = held == Win::Held::exclusive;
    give(win, target_lock_of(win, rank), exclusive ? Side::other : Side::shared);
    if (exclusive) give_node_lock(win);
  }
  epochs.held[rank] = Win::Held::nothing;
  --epochs.locks;
  poll_now_and_then(win, names::Win_unlock);
  return rc == MPI_SUCCESS ? rc : error(rc, detail);
}

int lock_all(Win& win, int assertion) {
  if (const int rc = check_assertion(assertion); rc != MPI_SUCCESS) return rc;
  Win::Epochs& epochs = win.epochs;
  if (epochs.lock_all || epochs.locks != 0) {
    return error(MPI_ERR_RMA_SYNC, win.label() + ": some target is locked already");
  }
  if (epochs.started || epochs.posted) {
    return error(MPI_ERR_RMA_SYNC,
                 win.label() + (epochs.started ? ": MPI_Win_start has been called, and MPI_Win_complete not"
                                               : ": MPI_Win_post has been called, and MPI_Win_wait not"));
  }
  if (const int rc = check_fence(win); rc != MPI_SUCCESS) return rc;
  epochs.lock_all = true;
  epochs.lock_all_checked = (assertion & MPI_MODE_NOCHECK) == 0;
  ++epochs.takings;
  if (!epochs.lock_all_checked) return MPI_SUCCESS;
  const auto what = [&] { return std::string(names::Win_lock_all) + " of " + win.label(); };
  const int rc = take(win, node_lock_of(win), Side::shared, false, what);
  if (rc != MPI_SUCCESS) epochs.lock_all = false;
  return rc;
}

int unlock_all(Win& win) {
  Win::Epochs& epochs = win.epochs;
  if (!epochs.lock_all) {
    return error(MPI_ERR_RMA_SYNC, win.label() + ": MPI_Win_lock_all has not been called");
  }
  std::atomic_thread_fence(std::memory_order_acq_rel);
  if (win.overlaps) win.overlaps->completed();
  if (win.part) {
    win.part->settle_all(names::Win_unlock_all);
    win.part->drop_locks();
  }
  const int rc = win.part ? win.part->flush_all(false, names::Win_unlock_all) : MPI_SUCCESS;
  const std::string detail(rc == MPI_SUCCESS ? std::string_view() : last_error_detail());
  epochs.lock_all = false;
  if (epochs.lock_all_checked) give(win, node_lock_of(win), Side::shared);
  poll_now_and_then(win, names::Win_unlock_all);
  return rc == MPI_SUCCESS ? rc : error(rc, detail);
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// The thread that makes progress while the program computes. What is hard: it must cost the program nothing
// while that is in MPI, so it never waits for the lock and stops listening at the first ring that finds the
// program there; and it must not fall asleep while nobody would wake it. Layer: mpi.

#include "mpi/runtime/progress_thread.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "core/event_fd.hpp"
#include "core/expects.hpp"
#include "core/service_thread.hpp"

namespace starling::mpi {
namespace {

/// After how many passes without an event nothing is left to do: enough for a look at the networks, which
/// have one in every 16th pass (btl::Limits::idle_passes).
constexpr int kIdlePasses = 32;
/// How often in a row a transport may have had something when it was asked for wake-ups, but shows nothing.
constexpr int kRefusals = 8;

/// What a fault of the thread itself raises reaches the program's handler: blocked, it would end the process
/// without a word.
void take_own_faults() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigaddset(&set, fault);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

/// A child of fork() has what its parent knew of the thread, but not the thread: nobody may join it, and
/// nobody destroys what is put here.
alignas(std::thread) std::byte of_the_parent[sizeof(std::thread)];

}  // namespace

Result<void> ProgressThread::start(Served& served) {
  expects(lock_.enabled(), "the progress thread takes turns with the program by the lock");
  if (running_) {
    resting_ = false;
    if (std::exchange(lain_down_, false)) nudge();
    return {};
  }
  served_ = &served;
  stopping_.store(false, std::memory_order_relaxed);
  armed_ = parked_ = resting_ = lain_down_ = false;
  static constexpr const char* kRoom =
      "; a progress thread takes a thread and a descriptor: expected room for them (ulimit -u, ulimit -n), "
      "or progress_thread=off";
  auto nudges = make_event_fd(EFD_NONBLOCK);
  if (!nudges) return fail(Errc::system, "progress thread", nudges.error().detail + kRoom);
  nudges_ = std::move(*nudges);
  auto made = start_service_thread("mpi progress", [this] { run(); });
  if (!made) return fail(Errc::system, made.error().where, made.error().detail + kRoom);
  thread_ = std::move(*made);
  running_ = true;
  return {};
}

// If it sleeps for a limited time, it sees resting_ at its end. If it listens or is parked, it is woken here.
void ProgressThread::rest() noexcept {
  if (!running_) return;
  resting_ = true;
  disarm();
  program_left();
}

void ProgressThread::stop() noexcept {
  if (!running_) return;
  stopping_.store(true, std::memory_order_release);
  disarm();
  nudge();
  thread_.join();
  running_ = parked_ = resting_ = lain_down_ = false;
}

void ProgressThread::forget() noexcept {
  running_ = armed_ = parked_ = resting_ = lain_down_ = false;
  nudges_.reset();
  new (of_the_parent) std::thread(std::move(thread_));
}

void ProgressThread::run() noexcept {
  take_own_faults();
  std::uint64_t pause_ns = kLeastPauseNs;
  bool park = false;
  for (;;) {
    doze(park ? std::nullopt : std::optional(pause_ns));
    if (stopping()) return;
    counters_.looks.fetch_add(1, std::memory_order_relaxed);
    park = false;
    pause_ns = std::min(2 * pause_ns, kMostPauseNs);
    if (!enter()) continue;  // the program is in MPI
    if (resting_) {
      park = lain_down_ = true;
      pause_ns = kLeastPauseNs;
      lock_.release();
      continue;
    }
    if (!program_active()) {
      serve();
      pause_ns = kLeastPauseNs;
      continue;
    }
    // A wait that was there at the last look may take long: whoever ends it says so.
    park = served_->program_waits() && served_->waits() == seen_waits_;
    seen_waits_ = served_->waits();
    parked_ = park;
    lock_.release();
  }
}

/// Takes the lock, unless the program has it or this thread is to end: stop() holds it meanwhile.
bool ProgressThread::enter() noexcept {
  if (!lock_.try_acquire()) return false;
  armed_ = parked_ = false;
  if (!stopping()) return true;
  lock_.release();
  return false;
}

/// Whether the program is in MPI, or was since the last time that this was asked.
bool ProgressThread::program_active() noexcept {
  const std::uint64_t turns = lock_.turns();
  const bool called = turns != seen_turns_;
  seen_turns_ = turns;
  return called || served_->program_waits();
}

/// Until the program is in MPI again. Takes over the lock, and gives it back.
void ProgressThread::serve() noexcept {
  std::uint64_t pause_ns = kLeastPauseNs;
  int refusals = 0;
  while (work()) {
    const Served::Arming armed = served_->arm(nudges_.get());
    if (armed == Served::Arming::asleep) {
      pause_ns = kLeastPauseNs;
      refusals = 0;
      if (!listen()) return;
    } else if (armed == Served::Arming::nobody_rings || ++refusals == kRefusals) {
      refusals = 0;
      if (!pause(pause_ns)) return;
      pause_ns = std::min(2 * pause_ns, kMostPauseNs);
    }
  }
  lock_.release();
}

/// Makes progress until nothing is left to do; false: the program wants the lock, or the end has come.
bool ProgressThread::work() noexcept {
  for (int idle = 0; idle < kIdlePasses;) {
    const int events = served_->progress_aside();
    counters_.events.fetch_add(static_cast<std::uint64_t>(events), std::memory_order_relaxed);
    idle = events != 0 ? 0 : idle + 1;
    if (lock_.contended() || stopping()) return false;
  }
  return true;
}

/// Sleeps until something has come. False, and without the lock: the program is in MPI, or has called it
/// meanwhile; then what has come is dealt with, and the next look tells whether it computes.
bool ProgressThread::listen() noexcept {
  armed_ = true;
  lock_.release();
  const bool woken = served_->sleep_armed();
  drop_nudges();
  if (!enter()) return false;
  served_->awake();
  if (woken) counters_.wakes.fetch_add(1, std::memory_order_relaxed);
  if (!program_active()) return true;
  if (!served_->program_waits()) (void)work();
  lock_.release();
  return false;
}

/// Gives the lock away for so long. False, and without the lock: the program is in MPI, or has been.
bool ProgressThread::pause(std::uint64_t ns) noexcept {
  lock_.release();
  doze(ns);
  if (!enter()) return false;
  if (!program_active()) return true;
  lock_.release();
  return false;
}

void ProgressThread::doze(std::optional<std::uint64_t> limit_ns) noexcept {
  pollfd descriptor{nudges_.get(), POLLIN, 0};
  timespec limit{};
  if (limit_ns) limit.tv_nsec = static_cast<long>(*limit_ns);
  if (::ppoll(&descriptor, 1, limit_ns ? &limit : nullptr, nullptr) > 0) drop_nudges();
}

void ProgressThread::drop_nudges() noexcept {
  std::uint64_t count = 0;
  (void)!::read(nudges_.get(), &count, sizeof count);
}

void ProgressThread::nudge() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(nudges_.get(), &one, sizeof one);
}

void ProgressThread::stop_listening() noexcept {
  armed_ = false;
  nudge();
  served_->interrupt();
}

void ProgressThread::unpark() noexcept {
  parked_ = false;
  nudge();
}

}  // namespace starling::mpi

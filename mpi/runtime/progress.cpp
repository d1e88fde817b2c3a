// SPDX-License-Identifier: BSD-3-Clause
// What the runtime does for the progress thread, and when there is one. What is hard: doorbell and
// descriptors serve the program's own sleeps as well, which come first. Layer: mpi.
// docs/design/waiting.md, "While the program computes"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "core/clock.hpp"
#include "core/expects.hpp"
#include "core/log.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "mpi/runtime/params.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

constexpr std::uint64_t kAsideLimitNs = 1'000'000'000;

/// Uncontended, as almost always; on a lock of its own.
std::string cost_of_lock() {
  constexpr std::uint64_t kTimes = 1000;
  static BigLock lock;
  std::uint64_t least = ~std::uint64_t{0};
  for (int trial = 0; trial < 5; ++trial) {
    const std::uint64_t begin = now_ns();
    for (std::uint64_t i = 0; i < kTimes; ++i) {
      lock.acquire();
      lock.release();
    }
    least = std::min(least, now_ns() - begin);
  }
  return std::to_string((least + kTimes / 2) / kTimes) + " ns";
}

bool held_for_fork = false;  // guarded by the lock

}  // namespace

// A fork happens between two calls: the child finds the lock free, and what it guards whole.
void Runtime::before_fork() noexcept {
  if (instance_ == nullptr || !instance_->progress_thread_.running()) return;
  registry().lock.acquire();
  held_for_fork = true;
}

void Runtime::after_fork() noexcept {
  if (!registry().lock.held_by_me() || !held_for_fork) return;
  held_for_fork = false;
  registry().lock.release();
}

void Runtime::after_fork_in_child() noexcept {
  if (registry().lock.held_by_me() && held_for_fork) instance_->progress_thread_.forget();
  after_fork();
}

Result<void> Runtime::start_progress_thread() {
  expects(registry().lock.held_by_me(), "who starts the progress thread holds the lock");
  static std::once_flag once;
  std::call_once(once, [] {
    (void)::pthread_atfork(&Runtime::before_fork, &Runtime::after_fork, &Runtime::after_fork_in_child);
  });
  registry().lock.enable();
  return progress_thread_.start(*this);
}

Result<void> Runtime::open_progress() {
  const auto choice = params().choice<ProgressChoice>(kProgressThread);
  const bool wanted =
      choice == ProgressChoice::on || (choice == ProgressChoice::automatic && !progress_needs_.empty());
  return wanted ? start_progress_thread() : Result<void>{};
}

void Runtime::close_progress() noexcept { progress_thread_.stop(); }

Result<ProgressNeed> Runtime::need_progress(std::string why) {
  const auto choice = params().choice<ProgressChoice>(kProgressThread);
  log::info("progress while the program computes is needed: " + why);
  ProgressNeed need(*this, progress_needs_.add(std::move(why)));
  if (choice != ProgressChoice::off) {
    if (auto started = start_progress_thread(); !started) return fail(std::move(started).error());
  }
  return need;
}

void Runtime::drop_need(std::uint64_t id) noexcept {
  progress_needs_.drop(id);
  if (progress_needs_.empty() && params().choice<ProgressChoice>(kProgressThread) != ProgressChoice::on)
    progress_thread_.stop();
}

std::vector<std::string> Runtime::progress_lines() const {
  static constexpr const char* kChoices[] = {"auto", "off", "on"};
  const auto choice = static_cast<std::size_t>(params().choice<ProgressChoice>(kProgressThread));
  const std::string how = std::string("progress_thread=") + kChoices[choice];
  std::vector<std::string> lines;
  if (!progress_thread_.running()) {
    lines.push_back("progress thread: none (" + how + "): messages move while the program is in MPI");
  } else {
    lines.push_back("progress thread: sleeps, and makes progress while the program computes (" + how + "); " +
                    (registry().multiple.load(std::memory_order_relaxed)
                         ? "MPI_THREAD_MULTIPLE takes the lock anyway"
                         : "each MPI call takes a lock for it: " + cost_of_lock() + " here"));
  }
  for (const std::string& reason : progress_needs_.reasons()) lines.push_back("  needed: " + reason);
  return lines;
}

int Runtime::progress_aside() noexcept {
  int events = peers_.progress();
  for (Progressable* item = items_; item != nullptr; item = cursor_) {
    cursor_ = item->next_;
    if (!item->calls_program()) events += item->progress();
  }
  if (events != 0) wake();
  return events;
}

Served::Arming Runtime::arm(int nudge) noexcept {
  if (!peers_.may_sleep()) return Arming::nobody_rings;
  aside_doorbell_ = segment_->prepare_sleep(shm::kAwaitsNothing);
  const bool quiet = progress_aside() == 0;
  if (!begin_sleep() || !quiet) {
    awake();
    return Arming::events;
  }
  aside_wake_ups_ = all_wake_ups(nudge);
  return Arming::asleep;
}

bool Runtime::sleep_armed() noexcept { return !sleep(aside_wake_ups_, aside_doorbell_, kAsideLimitNs); }

void Runtime::awake() noexcept {
  if (sleepers_ == 0) end_sleep();
}

void Runtime::interrupt() noexcept { segment_->wake(local_rank_); }

}  // namespace starling::mpi

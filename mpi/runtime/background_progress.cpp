// SPDX-License-Identifier: BSD-3-Clause
// What is done for the progress thread, and when there is one. What is hard: doorbell and
// descriptors serve the program's own sleeps as well, which come first. Layer: mpi.
// docs/design/waiting.md, "While the program computes"

#include "mpi/runtime/background_progress.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>

#include "core/clock.hpp"
#include "core/expects.hpp"
#include "core/log.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/params.hpp"

namespace starling::mpi {
namespace {

constexpr std::uint64_t kAsideLimitNs = 1'000'000'000;

/// Uncontended, as almost always; on a lock of its own.
std::string cost_of_lock() {
  constexpr std::uint64_t kTimes = 1000;
  static BigLock lock;
  lock.enable();
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

// Guarded by the lock.
bool held_for_fork = false;
ProgressThread* forked_with = nullptr;  ///< null: there was never a thread

}  // namespace

// A fork happens between two calls: the child finds the lock free, and what it guards whole.
void BackgroundProgress::before_fork() noexcept {
  if (forked_with == nullptr || !forked_with->running()) return;
  registry().lock.acquire();
  held_for_fork = true;
}

void BackgroundProgress::after_fork() noexcept {
  if (!registry().lock.held_by_me() || !held_for_fork) return;
  held_for_fork = false;
  registry().lock.release();
}

void BackgroundProgress::after_fork_in_child() noexcept {
  if (registry().lock.held_by_me() && held_for_fork) forked_with->forget();
  after_fork();
}

Result<void> BackgroundProgress::start() {
  expects(registry().lock.held_by_me(), "who starts the progress thread holds the lock");
  static std::once_flag once;
  std::call_once(once, [this] {
    forked_with = &thread_;
    (void)::pthread_atfork(&before_fork, &after_fork, &after_fork_in_child);
  });
  registry().lock.enable();
  return thread_.start(*this);
}

Result<void> BackgroundProgress::open() {
  const auto choice = params_.choice<ProgressChoice>(kProgressThread);
  const bool wanted =
      choice == ProgressChoice::on || (choice == ProgressChoice::automatic && !needs_.empty());
  return wanted ? start() : Result<void>{};
}

Result<ProgressNeed> BackgroundProgress::need(std::string why) {
  const auto choice = params_.choice<ProgressChoice>(kProgressThread);
  log::info("progress while the program computes is needed: " + why);
  ProgressNeed need(*this, needs_.add(std::move(why)));
  if (choice != ProgressChoice::off) {
    if (auto started = start(); !started) return fail(std::move(started).error());
  }
  return need;
}

void BackgroundProgress::drop(std::uint64_t need) noexcept {
  needs_.drop(need);
  if (needs_.empty() && params_.choice<ProgressChoice>(kProgressThread) != ProgressChoice::on) thread_.rest();
}

std::vector<std::string> BackgroundProgress::lines() const {
  static constexpr const char* kChoices[] = {"auto", "off", "on"};
  const auto choice = static_cast<std::size_t>(params_.choice<ProgressChoice>(kProgressThread));
  const std::string how = std::string("progress_thread=") + kChoices[choice];
  std::vector<std::string> lines;
  if (!thread_.running() || thread_.resting()) {
    lines.push_back(std::string("progress thread: ") + (thread_.resting() ? "rests" : "none") + " (" + how +
                    "): messages move while the program is in MPI");
  } else {
    lines.push_back("progress thread: sleeps, and makes progress while the program computes (" + how + "); " +
                    (registry().multiple.load(std::memory_order_relaxed)
                         ? "MPI_THREAD_MULTIPLE takes the lock anyway"
                         : "each MPI call takes a lock for it: " + cost_of_lock() + " here"));
  }
  for (const std::string& reason : needs_.reasons()) lines.push_back("  needed: " + reason);
  return lines;
}

Served::Arming BackgroundProgress::arm(int nudge) noexcept {
  Polling& polling = waits_.polling();
  if (!polling.peers().may_sleep()) return Arming::nobody_rings;
  doorbell_ = polling.sleeper().arm(shm::kAwaitsNothing);
  const bool quiet = progress_aside() == 0;
  if (!polling.sleeper().begin() || !quiet) {
    awake();
    return Arming::events;
  }
  wake_ups_ = polling.sleeper().wake_ups(nudge);
  return Arming::asleep;
}

bool BackgroundProgress::sleep_armed() noexcept {
  return !Sleeper::sleep(wake_ups_, doorbell_, kAsideLimitNs);
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A thread that makes progress while the program computes, and sleeps otherwise. Layer: mpi.
/// docs/design/waiting.md, "While the program computes"
///
/// It listens (asleep on the process's doorbell and the transports' descriptors) as long as the program stays
/// outside of MPI. What arrives wakes it; it makes progress until nothing is left to do, and listens again.
/// Once the program calls MPI, it stops listening and looks now and then whether the program computes again.
/// While nothing needs it, it rests: to begin and to end a thread takes as long as making a window.
///
/// Threads:   start, rest, stop, disarm and program_left are called under the runtime's lock; the thread
///            itself never waits for that lock, so stop() may wait for the thread while it holds the lock.
/// Ownership: Served is borrowed and lives until stop() has returned.
/// Errors:    start: system, if the thread or its descriptor cannot be had.
/// Units:     nanoseconds.

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "mpi/process/lock.hpp"

namespace starling::mpi {

/// What the thread drives: the runtime. Everything but sleep_armed() is called under the lock.
class Served {
 public:
  /// Threads of the program are in a wait: they make progress themselves, also while they sleep there.
  [[nodiscard]] virtual bool program_waits() const noexcept = 0;
  /// How many such waits there have been.
  [[nodiscard]] virtual std::uint64_t waits() const noexcept = 0;
  /// One pass over everything that may be done in a thread which is not the program's; the number of events.
  virtual int progress_aside() noexcept = 0;
  /// Asks for wake-ups. `asleep`: sleep_armed() may follow; `events`: look again first; `nobody_rings`:
  /// something waits for which no wake-up comes, only looking now and then helps. `nudge`: a descriptor of
  /// the thread's own that ends the sleep, too, unless interrupt() does.
  enum class Arming : std::uint8_t { asleep, events, nobody_rings };
  [[nodiscard]] virtual Arming arm(int nudge) noexcept = 0;
  /// After arm(): until rung or interrupted, or for a second. Without the lock. Whether it was woken.
  virtual bool sleep_armed() noexcept = 0;
  /// The sleep is over: takes back what arm() asked for, unless threads of the program sleep.
  virtual void awake() noexcept = 0;
  /// Ends sleep_armed(), also one that is about to begin.
  virtual void interrupt() noexcept = 0;

 protected:
  ~Served() = default;
};

class ProgressThread {
 public:
  /// How long the program must have been outside of MPI, at first and at most: this doubles while it is
  /// found in MPI.
  static constexpr std::uint64_t kLeastPauseNs = 50'000, kMostPauseNs = 1'000'000;

  /// Read by any thread.
  struct Counters {
    std::atomic<std::uint64_t> wakes{0};   ///< times that something had come while it listened
    std::atomic<std::uint64_t> events{0};  ///< what its passes have done
    std::atomic<std::uint64_t> looks{0};   ///< whether the program computes again
  };

  explicit ProgressThread(BigLock& lock) noexcept : lock_(lock) {}
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
  ~ProgressThread() = default;  // stop() comes first

  /// The lock must be enabled. Also ends a rest.
  [[nodiscard]] Result<void> start(Served& served);
  /// It does nothing until start(), and costs nothing.
  void rest() noexcept;
  /// Ends it, if it runs. The program's calls go on as before.
  void stop() noexcept;
  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] bool resting() const noexcept { return resting_; }
  /// In a forked child: there is no thread.
  void forget() noexcept;

  /// The program has taken the wake-ups for its own sleep, or what the thread listens to has changed.
  void disarm() noexcept {
    if (armed_) [[unlikely]]
      stop_listening();
  }
  /// No thread of the program waits in MPI any more.
  void program_left() noexcept {
    if (parked_) [[unlikely]]
      unpark();
  }

  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  void run() noexcept;
  [[nodiscard]] bool enter() noexcept;
  [[nodiscard]] bool program_active() noexcept;
  void serve() noexcept;
  [[nodiscard]] bool work() noexcept;
  [[nodiscard]] bool listen() noexcept;
  [[nodiscard]] bool pause(std::uint64_t ns) noexcept;
  void doze(std::optional<std::uint64_t> limit_ns) noexcept;
  void drop_nudges() noexcept;
  void nudge() noexcept;
  void stop_listening() noexcept;
  void unpark() noexcept;
  [[nodiscard]] bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }

  BigLock& lock_;
  Served* served_ = nullptr;
  std::thread thread_;
  UniqueFd nudges_;
  std::atomic<bool> stopping_{false};
  Counters counters_;
  // Under the lock.
  bool running_ = false;
  bool resting_ = false;    ///< it is to rest, or does
  bool lain_down_ = false;  ///< it rests: only a nudge ends that
  bool armed_ = false;      ///< it has not been in since it began to listen
  bool parked_ = false;     ///< it sleeps until program_left()
  std::uint64_t seen_turns_ = 0;
  std::uint64_t seen_waits_ = 0;
};

}  // namespace starling::mpi

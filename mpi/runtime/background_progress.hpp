// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Progress while the program computes: when there is a thread for it, and what that thread does.
/// Layer: mpi. docs/design/waiting.md, "While the program computes"
///
/// Threads:   under the runtime's lock. It is taken always (Hold::always), since this class may enable it.
///            progress_thread.hpp says what the thread does.
/// Ownership: owns the reasons; everything else is borrowed.
/// Errors:    a thread that cannot be had.

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "mpi/runtime/progress_need.hpp"
#include "mpi/runtime/progress_thread.hpp"
#include "mpi/runtime/waits.hpp"
#include "params/registry.hpp"

namespace starling::mpi {

class BackgroundProgress final : private Served {
 public:
  BackgroundProgress(const params::Registry& params, const Place& place, Waits& waits,
                     ProgressThread& thread) noexcept
      : params_(params), place_(place), waits_(waits), thread_(thread) {}
  BackgroundProgress(const BackgroundProgress&) = delete;
  BackgroundProgress& operator=(const BackgroundProgress&) = delete;

  /// Keeps and reports the reason `why` until the need is destroyed. With progress_thread=auto the thread
  /// is made for the first need, and works while there is one.
  [[nodiscard]] Result<ProgressNeed> need(std::string why);
  /// To be called when MPI gets its first user, and close() when the last has gone.
  [[nodiscard]] Result<void> open();
  void close() noexcept { thread_.stop(); }
  /// What the startup report says about it.
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] const ProgressThread::Counters& counters() const noexcept { return thread_.counters(); }

 private:
  friend class ProgressNeed;
  void drop(std::uint64_t need) noexcept;
  [[nodiscard]] Result<void> start();
  static void before_fork() noexcept;
  static void after_fork() noexcept;
  static void after_fork_in_child() noexcept;

  // Served
  [[nodiscard]] bool program_waits() const noexcept override { return waits_.waiting() != 0; }
  [[nodiscard]] std::uint64_t waits() const noexcept override { return waits_.count(); }
  int progress_aside() noexcept override { return waits_.polling().progress_aside(); }
  [[nodiscard]] Arming arm(int nudge) noexcept override;
  bool sleep_armed() noexcept override;
  void awake() noexcept override { waits_.polling().sleeper().end(); }
  void interrupt() noexcept override { place_.segment().wake(place_.local_rank()); }

  const params::Registry& params_;
  const Place& place_;
  Waits& waits_;
  ProgressThread& thread_;
  ProgressNeeds needs_;
  std::uint32_t doorbell_ = 0;  ///< what the thread sleeps on
  Sleeper::WakeUps wake_ups_;
};

}  // namespace starling::mpi

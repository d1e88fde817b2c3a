// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The process manager, as several threads of this process may ask it. Layer: mpi.
/// docs/design/pmi.md, docs/design/threads.md
///
/// A component of pmi takes one call at a time. A call that waits for an answer gives the runtime's lock away
/// meanwhile, so that other threads communicate and compute while the process manager is slow. Only get()
/// keeps the lock: it is called at first contact, in the middle of a send.
///
/// Threads:   under the runtime's lock. A thread whose turn has not come waits with progress; get() and
///            abort() wait without.
/// Ordering:  calls reach the component in the order in which they were made under the lock.
/// Ownership: owns the component; the waiter is borrowed.
/// Errors:    those of the component. check() and fence_left() say "nothing new" while another thread is
///            inside; that thread wakes all who wait when it comes back.

#include <functional>
#include <memory>
#include <mutex>

#include "frameworks/pmi/pmi.hpp"
#include "frameworks/select.hpp"
#include "mpi/process/lock.hpp"

namespace starling::mpi {

class Waits;

/// How a thread waits for its turn, and tells the others that something may have changed.
class TurnWaiter {
 public:
  /// Returns once ready() has said yes. ready() is not asked again after that.
  virtual void wait(const std::function<bool()>& ready) = 0;
  virtual void wake() noexcept = 0;

 protected:
  ~TurnWaiter() = default;
};

/// As threads of the runtime wait.
class WaitsForTurn final : public TurnWaiter {
 public:
  explicit WaitsForTurn(Waits& waits) noexcept : waits_(waits) {}
  void wait(const std::function<bool()>& ready) override;
  void wake() noexcept override;

 private:
  Waits& waits_;
};

class ProcessManager final : public pmi::Component {
 public:
  using Handle = plugin::Index::Handle<pmi::Framework>;

  ProcessManager(Handle component, BigLock& lock, TurnWaiter& waiter) noexcept
      : component_(std::move(component)), lock_(lock), waiter_(waiter) {}

  /// The component itself, for what is left of a runtime that could not be built. Nothing is called
  /// afterwards.
  [[nodiscard]] Handle release() noexcept { return std::move(component_); }

  [[nodiscard]] const pmi::Identity& identity() const noexcept override { return component_->identity(); }
  [[nodiscard]] const pmi::Capabilities& capabilities() const noexcept override {
    return component_->capabilities();
  }
  [[nodiscard]] Result<void> put(std::string_view key, std::span<const std::byte> value) override;
  [[nodiscard]] Result<pmi::Lookup> get(std::uint32_t rank, std::string_view key) override;
  [[nodiscard]] Result<void> fence(Deadline deadline) override;
  [[nodiscard]] Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline) override;
  [[nodiscard]] Result<pmi::Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                               Deadline deadline) override;
  [[nodiscard]] Result<bool> fence_left(pmi::Fence fence) override;
  [[nodiscard]] Result<pmi::Fence> last_fence_enter(Deadline deadline) override;
  void fence_abandon(pmi::Fence fence) noexcept override;
  [[nodiscard]] Result<void> publish(std::string_view name, std::string_view port) override;
  [[nodiscard]] Result<std::string> lookup(std::string_view name) override;
  [[nodiscard]] Result<void> unpublish(std::string_view name) override;
  [[nodiscard]] std::vector<pmi::ProcessSet> process_sets() override;
  void set_active(bool active) noexcept override;
  void take_leave() noexcept override;
  void process_ends() noexcept override { component_->process_ends(); }
  void abort(int exit_code, std::string_view message) noexcept override;
  [[nodiscard]] int wait_fd() const noexcept override { return component_->wait_fd(); }
  [[nodiscard]] Result<void> check() override;
  [[nodiscard]] Counters counters() const noexcept override;

 private:
  /// call() in this thread's turn, without the runtime's lock.
  template <class Call>
  auto unlocked(Call&& call);

  Handle component_;
  BigLock& lock_;
  TurnWaiter& waiter_;
  mutable std::mutex turn_;  ///< held by the thread that is inside the component
};

}  // namespace starling::mpi

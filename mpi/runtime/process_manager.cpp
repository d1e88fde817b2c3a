// SPDX-License-Identifier: BSD-3-Clause
// Turns at the process manager. What is hard: who calls keeps the order of the runtime's lock, but must not
// hold it while it waits; and an answer that one thread reads may be another one's. Layer: mpi.

#include "mpi/runtime/process_manager.hpp"

#include <ctime>

#include "core/clock.hpp"
#include "mpi/runtime/waits.hpp"

namespace starling::mpi {
namespace {

/// How long an abort waits for a thread that is inside: it is the last thing that this process says.
constexpr std::uint64_t kAbortPatienceNs = 1'000'000'000;
constexpr long kPauseNs = 1'000'000;

/// Gives the runtime's lock away, and takes it again.
class Unlocked {
 public:
  explicit Unlocked(BigLock& lock) noexcept : lock_(lock), depth_(lock.release_all()) {}
  ~Unlocked() { lock_.reacquire(depth_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  BigLock& lock_;
  std::uint32_t depth_;
};

}  // namespace

void WaitsForTurn::wait(const std::function<bool()>& ready) {
  waits_.wait("a call to the process manager (another thread's is under way)", ready);
}

// A fence may have ended with what this thread has read, and another thread's turn has come.
void WaitsForTurn::wake() noexcept {
  waits_.polling().parking().call();
  waits_.polling().sleeper().wake();
}

// The turn is taken under the lock, so that nobody who comes later can overtake, and given back without it,
// since get() waits for it under the lock.
template <class Call>
auto ProcessManager::unlocked(Call&& call) {
  waiter_.wait([this] { return turn_.try_lock(); });
  const auto in_turn = [&] {
    const Unlocked unlocked(lock_);
    const std::unique_lock turn(turn_, std::adopt_lock);
    return call();
  };
  auto result = in_turn();
  waiter_.wake();
  return result;
}

Result<void> ProcessManager::put(std::string_view key, std::span<const std::byte> value) {
  return unlocked([&] { return component_->put(key, value); });
}

Result<pmi::Lookup> ProcessManager::get(std::uint32_t rank, std::string_view key) {
  const std::scoped_lock turn(turn_);
  return component_->get(rank, key);
}

Result<void> ProcessManager::fence(Deadline deadline) {
  return unlocked([&] { return component_->fence(deadline); });
}

Result<void> ProcessManager::fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline) {
  return unlocked([&] { return component_->fence(ranks, tag, deadline); });
}

Result<pmi::Fence> ProcessManager::fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                               Deadline deadline) {
  return unlocked([&] { return component_->fence_enter(ranks, tag, deadline); });
}

Result<bool> ProcessManager::fence_left(pmi::Fence fence) {
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn) return false;
  return component_->fence_left(fence);
}

Result<pmi::Fence> ProcessManager::last_fence_enter(Deadline deadline) {
  return unlocked([&] { return component_->last_fence_enter(deadline); });
}

void ProcessManager::fence_abandon(pmi::Fence fence) noexcept {
  (void)unlocked([&] {
    component_->fence_abandon(fence);
    return true;
  });
}

Result<void> ProcessManager::publish(std::string_view name, std::string_view port) {
  return unlocked([&] { return component_->publish(name, port); });
}

Result<std::string> ProcessManager::lookup(std::string_view name) {
  return unlocked([&] { return component_->lookup(name); });
}

Result<void> ProcessManager::unpublish(std::string_view name) {
  return unlocked([&] { return component_->unpublish(name); });
}

std::vector<pmi::ProcessSet> ProcessManager::process_sets() {
  return unlocked([&] { return component_->process_sets(); });
}

// Needs no answer: the lock is kept.
void ProcessManager::set_active(bool active) noexcept {
  const std::scoped_lock turn(turn_);
  component_->set_active(active);
}

void ProcessManager::take_leave() noexcept {
  const std::scoped_lock turn(turn_);
  component_->take_leave();
}

void ProcessManager::abort(int exit_code, std::string_view message) noexcept {
  std::unique_lock turn(turn_, std::try_to_lock);
  for (const Deadline deadline = Deadline::after_ns(kAbortPatienceNs); !turn && !deadline.passed();) {
    const timespec pause{0, kPauseNs};
    ::nanosleep(&pause, nullptr);
    (void)turn.try_lock();
  }
  component_->abort(exit_code, message);
}

pmi::Component::Counters ProcessManager::counters() const noexcept {
  const std::scoped_lock turn(turn_);
  return component_->counters();
}

Result<void> ProcessManager::check() {
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn) return {};
  return component_->check();
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Fences of the process manager, with progress meanwhile. Layer: mpi. docs/design/startup.md
///
/// Threads:   under the runtime's lock, which waiting gives away.
/// Ownership: everything is borrowed.
/// Ordering:  a fence of the world that was given up early counts as entered: the process manager takes each
///            process once. So the next fence of the world is the rest of that one.
/// Errors:    timed_out; what the process manager says.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::mpi {

/// What a fence needs of who waits: Waits and Sleeper, in the runtime.
class FenceWaiter {
 public:
  /// The process manager's descriptor is listened to from here on; `lasts`: the fence has not ended at once.
  virtual void enter_fence(bool lasts) = 0;
  virtual void leave_fence() noexcept = 0;
  /// As Waits::wait_for_others.
  [[nodiscard]] virtual Result<void> wait(const std::function<bool()>& ready, Deadline deadline,
                                          const std::function<std::string()>& what) = 0;

 protected:
  ~FenceWaiter() = default;
};

class Fences {
 public:
  Fences(pmi::Component& pmi, FenceWaiter& waiter) noexcept : pmi_(pmi), waiter_(waiter) {}

  /// Over `ranks` (sorted, this process included; empty: the world). `needless`, if given, ends it early.
  [[nodiscard]] Result<void> meet(std::span<const std::uint32_t> ranks, std::string_view tag,
                                  Deadline deadline, const std::function<bool()>& needless);
  /// At the end of MPI: everybody who lives has come there. Waits without end; `look` is called now and then
  /// meanwhile, and gives up by true.
  [[nodiscard]] Result<void> meet_last(const std::function<bool()>& look);

 private:
  [[nodiscard]] Result<bool> leave(const pmi::Fence& entered, std::size_t count, Deadline deadline,
                                   const std::function<bool()>& needless);

  pmi::Component& pmi_;
  FenceWaiter& waiter_;
  std::optional<pmi::Fence> open_;  ///< of the world: entered, and given up early
};

}  // namespace starling::mpi

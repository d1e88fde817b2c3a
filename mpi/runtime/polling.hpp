// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One pass over everything that advances: the peers' transports, and what has registered. Layer: mpi.
///
/// Peers and sleeper are members, not references: a pass reaches them without a load.
///
/// Threads:   under the runtime's lock.
/// Ownership: owns the peers; what has registered belongs to others.
/// Ordering:  the latest to register comes first. During a pass anything may register or leave.

#include "core/chain.hpp"
#include "frameworks/peer/peers.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/parking.hpp"
#include "mpi/runtime/progressable.hpp"
#include "mpi/runtime/sleeper.hpp"

namespace starling::mpi {

class Polling {
 public:
  Polling(const Place& place, ProgressThread& thread) noexcept : sleeper_(place, thread) {}
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;

  /// Returns the number of events. Wakes sleeping threads of this process if there were any.
  int progress() noexcept;
  /// As progress(), in a thread that is not the program's: leaves out what may call the program.
  int progress_aside() noexcept;

  /// Again without effect.
  void add(Progressable& item) noexcept;
  /// What is not registered may be removed, too.
  void remove(Progressable& item) noexcept;
  /// Calls visit(Progressable&) for each. Not during a pass.
  template <class Visit>
  void each(Visit visit) const {
    for (Progressable* item = items_.front(); item != nullptr; item = Items::after(*item)) visit(*item);
  }

  /// Wakes this process's threads that sleep in a wait: something they may wait for was done by a call.
  void wake() noexcept {
    if (sleeper_.to_wake() != 0) [[unlikely]]
      wake_threads();
  }

  [[nodiscard]] peer::Peers& peers() noexcept { return peers_; }
  [[nodiscard]] Sleeper& sleeper() noexcept { return sleeper_; }
  [[nodiscard]] Parking& parking() noexcept { return parking_; }

 private:
  using Items = Chain<Progressable, &Progressable::next_, &Progressable::previous_>;

  void wake_threads() noexcept;

  peer::Peers peers_;
  Items items_;
  Progressable* cursor_ = nullptr;  // the next one of the pass under way
  Sleeper sleeper_;
  Parking parking_{registry().lock, sleeper_.to_wake()};
};

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How this process sleeps, and what wakes it: its doorbell, and descriptors. Layer: mpi.
/// docs/design/waiting.md
///
/// It sleeps on a futex of the node's segment while shared memory is all there is to wait for, else on every
/// descriptor at once. When to sleep is not said here: waits.hpp, background_progress.hpp.
///
/// Threads:   under the runtime's lock, which sleep_unlocked() gives away; several threads may sleep at once.
/// Ordering:  arm(), a last look, begin(), sleep, end(): what comes after arm() ends the sleep.
/// Ownership: everything is borrowed.
/// Units:     nanoseconds in names.

#include <poll.h>

#include <array>
#include <cstdint>
#include <vector>

#include "frameworks/btl/btl.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::mpi {

class Place;
class ProgressThread;

/// How this process has slept while it waited.
struct Sleeps {
  std::uint64_t all = 0;
  std::uint64_t to_limit = 0;  ///< ended at their limit, for want of a wake-up
  std::uint64_t missed = 0;    ///< of these, though something was there: a wake-up was lost
};

class Sleeper {
 public:
  Sleeper(const Place& place, ProgressThread& thread) noexcept : place_(place), thread_(thread) {}
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// Rings for threads of this process that sleep.
  void wake() noexcept {
    if (sleepers_ != 0) ring();
  }
  /// Threads of this process that sleep, and what others add to them: who makes an event happen asks for one
  /// number only.
  [[nodiscard]] std::uint32_t& to_wake() noexcept { return to_wake_; }

  /// A transport has a descriptor (wait_fd) that tells what comes. follow() comes next.
  void listen_to(btl::Component& transport) { transports_.push_back(&transport); }
  [[nodiscard]] bool hears_transports() const noexcept { return !transports_.empty(); }
  /// What there is to listen to has changed: transports, or the segment of this process.
  void follow();
  /// The segment is about to change: who sleeps on its doorbell wakes, and goes on to the next one's.
  void leave_segment() noexcept;
  /// A fence of the process manager is under way, whose descriptor counts as a transport's; `lasts`: it has
  /// not ended at once.
  void enter_fence(bool lasts);
  void leave_fence() noexcept { --fences_; }

  /// Producers ring from here on; returns what to sleep on. `awaited`: a number of
  /// frameworks/shm/doorbell.hpp.
  [[nodiscard]] std::uint32_t arm(std::uint32_t awaited) noexcept;
  /// Whether transports may be slept on: false, something is there.
  [[nodiscard]] bool begin() noexcept;
  /// Takes back what arm() and begin() asked for, unless other threads sleep.
  void end() noexcept;

  /// What ends a sleep, as it is when that begins; without descriptors the segment's futex does.
  struct WakeUps {
    shm::NodeSegment* segment = nullptr;
    nfds_t count = 0;
    bool blind = false;  ///< no descriptor tells what comes through shared memory
    std::array<pollfd, 34> descriptors;
  };
  /// `other`: one more than those of bell and transports.
  [[nodiscard]] WakeUps wake_ups(int other) const;
  /// Without the runtime's lock: who holds it may enter a fence, make a transport, move to another segment.
  /// Whether it ended at its limit.
  [[nodiscard]] static bool sleep(WakeUps& wake_ups, std::uint32_t doorbell, std::uint64_t limit_ns);
  /// Sleeps as one of the program's threads, and gives the lock away meanwhile.
  [[nodiscard]] bool sleep_unlocked(std::uint32_t doorbell, std::uint64_t limit_ns, int other);

  Sleeps counts;

 private:
  void ring() noexcept;
  void open_bell();

  const Place& place_;
  ProgressThread& thread_;
  std::uint32_t sleepers_ = 0;
  std::uint32_t to_wake_ = 0;
  std::uint32_t fences_ = 0;  ///< entered and not left
  std::vector<btl::Component*> transports_;
};

}  // namespace starling::mpi

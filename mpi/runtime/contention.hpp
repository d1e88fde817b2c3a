// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Whether somebody else wants the core on which this process waits. Layer: mpi.
/// docs/design/waiting.md
///
/// With fewer ranks than cores a wait normally has a core and polls. It has none where the system puts two
/// ranks on one core, or where several nodes share a machine (virtual nodes, containers). A long wait tests
/// that with one yield; a process that was woken from its own core knows it without.
///
/// Threads: one at a time. Units: nanoseconds.

#include <cstdint>

namespace starling::mpi {

class Contention {
 public:
  /// A wait that is longer asks once: a yield to nobody is short beside it.
  static constexpr std::uint64_t kAskAfterNs = 10'000;
  /// How long an answer counts before a wait asks again.
  static constexpr std::uint64_t kCountsNs = 10'000'000;
  /// A yield to nobody is shorter.
  static constexpr std::uint64_t kTurnNs = 2'000;
  /// Short yields after which it looks whether the contention has gone. A launcher that passes a line of
  /// output on goes at once.
  static constexpr std::uint16_t kTurnsPerLook = 64;

  Contention() = default;
  /// `matters`: whether it makes a difference to waits.
  explicit Contention(bool matters) noexcept : matters_(matters) {}

  void begin_wait() noexcept { may_ask_ = matters_; }
  [[nodiscard]] bool worth_asking(std::uint64_t waited_ns) const noexcept {
    return may_ask_ && waited_ns >= kAskAfterNs;
  }
  void asked() noexcept { may_ask_ = false; }
  void found(std::uint64_t now) noexcept {
    until_ns_ = now + kCountsNs;
    turns_ = 0;
  }
  /// A yield of this process. One that has let somebody run says that who was found is still there: otherwise
  /// all processes of the machine would poll at once when they ask again, make each other's yields long, and
  /// take that for a program that computes. Many short ones without a change of `switches`, the number of
  /// times that others have had this core, say that nobody is there.
  template <class Switches>
  void turn(std::uint64_t begin, std::uint64_t end, Switches switches) noexcept {
    if (!here(begin)) return;
    if (end - begin >= kTurnNs) return found(end);
    if (++turns_ < kTurnsPerLook) return;
    turns_ = 0;
    const auto before = switches_;
    switches_ = static_cast<std::uint32_t>(switches());
    if (switches_ == before) until_ns_ = 0;
  }
  [[nodiscard]] bool here(std::uint64_t now) const noexcept { return now < until_ns_; }

 private:
  bool matters_ = false;
  bool may_ask_ = false;
  std::uint16_t turns_ = 0;  // since the last look at switches_, or found()
  std::uint32_t switches_ = 0;
  std::uint64_t until_ns_ = 0;
};

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Whether somebody else wants the core on which this process waits. Layer: mpi.
/// docs/design/waiting.md
///
/// On a node with fewer ranks than cores each wait could have a core for itself, and polls. It has not where
/// the system puts two ranks side by side, and where several nodes are on one machine (virtual nodes,
/// containers). That cannot be counted beforehand, so a wait that lasts for a while asks, by one yield; and a
/// process that is woken from its own core knows.
///
/// Threads: one at a time. Units: nanoseconds.

#include <cstdint>

namespace starling::mpi {

class Company {
 public:
  /// A wait that is longer asks once: a yield to nobody is short beside it.
  static constexpr std::uint64_t kAskAfterNs = 10'000;
  /// What was found counts for so long, and is then asked again.
  static constexpr std::uint64_t kCountsNs = 10'000'000;

  Company() = default;
  /// `matters`: whether it makes a difference to waits.
  explicit Company(bool matters) noexcept : matters_(matters) {}

  void begin_wait() noexcept { may_ask_ = matters_; }
  [[nodiscard]] bool worth_asking(std::uint64_t waited_ns) const noexcept {
    return may_ask_ && waited_ns >= kAskAfterNs;
  }
  void asked() noexcept { may_ask_ = false; }
  void found(std::uint64_t now) noexcept { until_ns_ = now + kCountsNs; }
  [[nodiscard]] bool here(std::uint64_t now) const noexcept { return now < until_ns_; }

 private:
  bool matters_ = false;
  bool may_ask_ = false;
  std::uint64_t until_ns_ = 0;
};

}  // namespace starling::mpi

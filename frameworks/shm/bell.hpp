// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A doorbell that is a descriptor, for processes that sleep on shared memory and descriptors at once.
/// Layer: framework.
///
/// A futex cannot be waited for together with descriptors. So a process that has network transports opens a
/// mailbox (mailbox.hpp), and whoever rings its futex also sends one empty datagram there. Anybody on the
/// machine may send one: that wakes, no more. Processes in another network namespace cannot; then the sleep
/// ends at its limit.
///
/// Threads:   ring by any thread; the rest by one at a time.
/// Ownership: owns its socket.
/// Errors:    open: system.

#include <cstdint>

#include "core/result.hpp"
#include "frameworks/shm/mailbox.hpp"

namespace starling::shm {

class Bell {
 public:
  [[nodiscard]] static Result<Bell> open();
  /// What others need to ring it; never 0.
  [[nodiscard]] std::uint64_t name() const noexcept { return box_.name(); }
  /// Readable once rung, until silence().
  [[nodiscard]] int fd() const noexcept { return box_.fd(); }
  void silence() noexcept;

  /// Never waits; a bell that is gone or full is no error, since its owner need not be woken then.
  static void ring(std::uint64_t name) noexcept;

 private:
  explicit Bell(Mailbox box) noexcept : box_(std::move(box)) {}
  Mailbox box_;
};

}  // namespace starling::shm

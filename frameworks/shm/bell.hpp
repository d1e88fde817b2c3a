// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A doorbell that is a descriptor, for processes that sleep on shared memory and descriptors at once.
/// Layer: framework.
///
/// A futex cannot be waited for together with descriptors. So a process that has network transports binds an
/// unnamed datagram socket (the kernel gives it five characters in the abstract namespace), and whoever rings
/// its futex also sends one empty datagram there. Anybody on the machine may send one: that wakes, no more.
/// Processes in another network namespace cannot; then the sleep ends at its limit.
///
/// Threads:   ring by any thread; the rest by one at a time.
/// Ownership: owns its socket.
/// Errors:    open: system.

#include <cstdint>

#include "core/result.hpp"
#include "core/unique_fd.hpp"

namespace starling::shm {

class Bell {
 public:
  [[nodiscard]] static Result<Bell> open();
  /// What others need to ring it; never 0.
  [[nodiscard]] std::uint64_t name() const noexcept { return name_; }
  /// Readable once rung, until silence().
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  void silence() noexcept;

  /// Never waits; a bell that is gone or full is no error, since its owner need not be woken then.
  static void ring(std::uint64_t name) noexcept;

 private:
  Bell(UniqueFd socket, std::uint64_t name) noexcept : socket_(std::move(socket)), name_(name) {}
  UniqueFd socket_;
  std::uint64_t name_ = 0;
};

}  // namespace starling::shm

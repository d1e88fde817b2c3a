// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Does anybody listen at this address? Layer: framework, for the network btls.
///
/// The libraries wait alike for a process that is busy and for one that nothing leads to. A TCP connection to
/// its port, closed at once, tells them apart. Being refused does not prove that nobody lives there: a
/// firewall refuses as well.
///
/// Threads: one at a time. Errors: answers; nothing blocks.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/unique_fd.hpp"

namespace starling::btl::net {

class Probe {
 public:
  enum class Answer : std::uint8_t { none_yet, listens, refused, unknown };

  /// Begins; `address` is a sockaddr. Anything else is `unknown`.
  void start(std::span<const std::byte> address) noexcept;
  /// The answer, which ends the probe, or none_yet.
  [[nodiscard]] Answer look() noexcept;
  /// Probes and waits for the answer, up to `limit_ns`; none_yet: there was none.
  [[nodiscard]] static Answer ask(std::span<const std::byte> address, std::uint64_t limit_ns) noexcept;
  [[nodiscard]] bool running() const noexcept { return socket_.get() >= 0 || early_ != Answer::none_yet; }

 private:
  UniqueFd socket_;
  Answer early_ = Answer::none_yet;
};

}  // namespace starling::btl::net

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A datagram socket whose name the kernel chooses: five characters of the abstract namespace, which
/// fit into a number. Layer: framework.
///
/// Every process in the same network namespace may send to it, also those of other users, so the reader of a
/// datagram checks it. The name vanishes with the socket, however its process ends.
///
/// Threads:   send and receive by any; the rest by one at a time.
/// Ownership: owns its socket; a descriptor that came in a datagram is the receiver's.
/// Errors:    open: system; send: errno.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/result.hpp"
#include "core/unique_fd.hpp"

namespace starling::shm {

class Mailbox {
 public:
  /// `waits`: receive() waits for a datagram. Sending never waits. Both have been tried.
  [[nodiscard]] static Result<Mailbox> open(bool waits);
  /// What others need to send to it; never 0.
  [[nodiscard]] std::uint64_t name() const noexcept { return name_; }
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

  /// One datagram, perhaps with a descriptor (-1: without). 0, or errno: EAGAIN: the box is full;
  /// ECONNREFUSED: there is none of that name.
  int send(std::uint64_t to, std::span<const std::byte> datagram, int descriptor = -1) const noexcept;

  struct Datagram {
    std::size_t bytes = 0;   ///< length as it was sent; it may be more than there was room for
    std::uint64_t from = 0;  ///< the name of the sender's box; 0: it has none
    UniqueFd descriptor;
  };
  /// The next datagram; empty if there is none, or if a signal interrupted the call.
  [[nodiscard]] std::optional<Datagram> receive(std::span<std::byte> datagram) const noexcept;

 private:
  Mailbox(UniqueFd socket, std::uint64_t name) noexcept : socket_(std::move(socket)), name_(name) {}
  UniqueFd socket_;
  std::uint64_t name_ = 0;
};

}  // namespace starling::shm

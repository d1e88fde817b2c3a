// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  File descriptors that a library opens behind our back. Layer: framework, for the network btls.
///
/// libfabric and UCX open their sockets inheritable: a program that the user's program starts would keep them
/// open, peers would not see this process end, and ports would stay taken.
///
/// Threads: what another thread opens between construction and mark() may be marked too, if it is a socket or
///          an event descriptor. Errors: ignored; a descriptor that cannot be marked stays as it is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace starling::btl::net {

/// All of this process, in order.
[[nodiscard]] std::vector<int> open_descriptors();

/// Marks the sockets and event descriptors that were opened during its life close-on-exec.
class DescriptorWatch {
 public:
  DescriptorWatch();
  /// Marks what is new. Returns the ports (host order) on which a new socket listens.
  std::vector<std::uint16_t> mark() noexcept;

 private:
  std::vector<int> before_;  // sorted
};

/// Marks the sockets that were accepted on one of these ports: they share their local port with the listener.
void mark_accepted(const std::vector<std::uint16_t>& ports) noexcept;

/// Marks the sockets that are connected to this sockaddr; other bytes mark nothing.
void mark_connected(std::span<const std::byte> address) noexcept;

/// The epoll descriptor that an epoll descriptor waits for; -1: there is none, or several.
[[nodiscard]] int inner_epoll(int fd) noexcept;

/// One connection takes one descriptor on either side: raises the soft limit to the hard one.
void raise_descriptor_limit() noexcept;

}  // namespace starling::btl::net

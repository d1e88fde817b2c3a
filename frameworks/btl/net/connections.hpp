// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the kernel knows of a library's TCP connections. Layer: framework, for the network btls.
///
/// Neither library says that the other side has stopped to acknowledge, and libfabric not even that a
/// connection is gone over which nothing goes out. The kernel knows both, whatever the processes compute.
///
/// Threads: any. Errors: what cannot be read is left out. Costs some microseconds per descriptor of the
/// process.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace starling::btl::net {

/// The other end: an IPv4 or IPv6 address in network order, and a port in host order.
struct FarEnd {
  std::vector<std::byte> host;
  std::uint16_t port = 0;
  bool operator==(const FarEnd&) const = default;
};
/// Of a sockaddr; without a host for other bytes.
[[nodiscard]] FarEnd far_end(std::span<const std::byte> address);

struct Connection {
  std::uint64_t number = 0;  ///< the kernel's (inode), for its whole life
  FarEnd far;
  bool accepted = false;        ///< from a port of this process: far.port is nobody's listening port
  std::uint64_t silent_ns = 0;  ///< what was sent is repeated since, without an answer; 0: it is not
};

/// Established connections that were accepted on `own_ports`, or lead to a port for which `leads_to_peer`
/// says yes.
[[nodiscard]] std::vector<Connection> connections(std::span<const std::uint16_t> own_ports,
                                                  const std::function<bool(const FarEnd&)>& leads_to_peer);

/// How long the longest of these that leads, or may lead, to the peer with this port (a sockaddr) has been
/// silent. Of an accepted one only the host is known.
[[nodiscard]] std::uint64_t silence(std::span<const Connection> connections, std::span<const std::byte> port);

/// Whether one of these leads, or may lead, to that peer.
[[nodiscard]] bool leads_to(std::span<const Connection> connections, std::span<const std::byte> port);

}  // namespace starling::btl::net

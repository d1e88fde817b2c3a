// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which network interface a transport uses. Layer: framework, shared by the network btls.
///
/// A library left alone takes the first interface that it finds, and that may be a bridge for containers,
/// through which no other node can be reached. So each network transport is told one.
///
/// Threads: any. Errors: Result. Units: none.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::btl::net {

/// An IP address without port.
struct IpAddress {
  bool v6 = false;
  std::uint8_t bytes[16] = {};  ///< network order; IPv4 uses the first four
  [[nodiscard]] std::string text() const;
  /// Whether the first `bits` bits are those of `other`, which is of the same family.
  [[nodiscard]] bool in_subnet(const IpAddress& other, unsigned bits) const noexcept;
};

/// An interface that is up and has an address; its IPv4 address where it has both.
struct Interface {
  std::string name;
  IpAddress address;
  bool loopback = false;
};

/// The usable interfaces of this machine, in the order of their kernel index.
[[nodiscard]] Result<std::vector<Interface>> interfaces();

/// Chooses among `available`. `wanted` is empty (the first that is neither loopback nor made for containers
/// and virtual machines, else loopback), or a list `eth1,10.1.0.0/16` of names and subnets of which the first
/// that exists counts, or `^eth0,virbr0`: as if empty, but without these.
/// Errors: Errc::bad_parameter or not_found, with what is available.
[[nodiscard]] Result<Interface> choose_interface(std::span<const Interface> available,
                                                 std::string_view wanted);

/// "lo (127.0.0.1), eth0 (10.0.0.1)".
[[nodiscard]] std::string list_of(std::span<const Interface> available);

}  // namespace starling::btl::net

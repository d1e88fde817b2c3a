// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Addresses that follow from node, local rank and two parameters, without exchange. Layer: plugin.
///
/// With btl_ofi_port_base a process listens at the address of its node (btl_ofi_nodes), at the port base +
/// local rank. So no process publishes its address or asks for another one.
///
/// Threads:   one at a time.
/// Errors:    a list that is too short, a host without address, ports beyond 65535: Errc::bad_parameter.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "frameworks/btl/btl.hpp"
#include "params/registry.hpp"

namespace starling::btl::ofi {

/// Where a process listens.
struct Listener {
  std::string host;  ///< digits
  std::uint16_t port = 0;

  [[nodiscard]] std::string place() const { return host + " port " + std::to_string(port); }
  /// A sockaddr_in.
  [[nodiscard]] std::vector<std::byte> name() const;
};

class ComputedAddresses {
 public:
  /// Nothing where btl_ofi_port_base is 0.
  [[nodiscard]] static Result<std::optional<ComputedAddresses>> from(const params::Registry& params,
                                                                     const Place& place);
  [[nodiscard]] Result<Listener> of(std::uint32_t rank) const;
  /// The token of frames to a process: both sides compute it, and another job hardly has the same one.
  [[nodiscard]] std::uint64_t token(std::uint32_t rank) const noexcept;

 private:
  std::vector<std::string> hosts_;  // by node
  std::uint32_t base_ = 0;
  Place place_;
};

}  // namespace starling::btl::ofi

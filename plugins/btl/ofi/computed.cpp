// SPDX-License-Identifier: BSD-3-Clause
// Computed addresses. Layer: plugin. Design: docs/design/network.md.

#include "plugins/btl/ofi/computed.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <limits>
#include <utility>

#include "frameworks/btl/net/hosts.hpp"
#include "plugins/btl/ofi/params.hpp"

namespace starling::btl::ofi {

std::vector<std::byte> Listener::name() const {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  std::vector<std::byte> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

Result<std::optional<ComputedAddresses>> ComputedAddresses::from(const params::Registry& params,
                                                                 const Place& place) {
  ComputedAddresses computed;
  computed.base_ = static_cast<std::uint32_t>(params.integer(kOfiPortBase));
  computed.place_ = place;
  if (computed.base_ == 0) return std::optional<ComputedAddresses>{};
  const std::string& list = params.text(kOfiNodes);
  if (list.empty()) {
    return fail(Errc::bad_parameter, "btl_ofi_port_base",
                "needs btl_ofi_nodes, the addresses of all nodes in the order of their numbers");
  }
  auto hosts = net::expand_hosts(list);
  if (!hosts) return fail(std::move(hosts).error().within("btl_ofi_nodes"));
  computed.hosts_ = std::move(*hosts);
  return std::optional(std::move(computed));
}

Result<Listener> ComputedAddresses::of(std::uint32_t rank) const {
  if (place_.seat_of == nullptr) {
    return fail(Errc::unsupported, "btl_ofi_port_base", "it is not known which rank is on which node");
  }
  const Place::Seat seat = place_.seat_of(place_.seats, rank);
  const std::string whose = "rank " + std::to_string(rank) + ", number " + std::to_string(seat.local_rank) +
                            " on node " + std::to_string(seat.node);
  if (seat.node >= hosts_.size()) {
    return fail(Errc::bad_parameter, "btl_ofi_nodes",
                "lists " + std::to_string(hosts_.size()) + " nodes, too few for " + whose);
  }
  const std::uint64_t port = std::uint64_t{base_} + seat.local_rank;
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    return fail(Errc::bad_parameter, "btl_ofi_port_base",
                std::to_string(base_) + " leaves no port for " + whose);
  }
  auto host = net::resolve(hosts_[seat.node]);
  if (!host) return fail(std::move(host).error().within("btl_ofi_nodes"));
  return Listener{std::move(*host), static_cast<std::uint16_t>(port)};
}

std::uint64_t ComputedAddresses::token(std::uint32_t rank) const noexcept {
  std::uint64_t mixed = place_.job ^ (rank + 0x9e3779b97f4a7c15u);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  return mixed != 0 ? mixed : 1;
}

}  // namespace starling::btl::ofi

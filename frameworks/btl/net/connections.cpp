// SPDX-License-Identifier: BSD-3-Clause
// Reading the state of sockets. Layer: framework. Design: docs/design/network.md, "Silence".

#include "frameworks/btl/net/connections.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "frameworks/btl/net/descriptors.hpp"

namespace starling::btl::net {
namespace {

constexpr std::uint8_t kEstablished = 1;  // TCP_ESTABLISHED, which <linux/tcp.h> does not name

struct Name {
  sockaddr_storage bytes{};
  socklen_t length = sizeof(sockaddr_storage);
  [[nodiscard]] FarEnd end() const { return far_end({reinterpret_cast<const std::byte*>(&bytes), length}); }
};

std::optional<FarEnd> name_of(int fd, decltype(&::getsockname) ask) {
  Name name;
  if (ask(fd, reinterpret_cast<sockaddr*>(&name.bytes), &name.length) != 0) return std::nullopt;
  FarEnd end = name.end();
  if (end.host.empty()) return std::nullopt;
  return end;
}

/// Nothing for what is no established TCP connection.
std::optional<tcp_info> established(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  if (info.tcpi_state != kEstablished) return std::nullopt;
  return info;
}

std::uint64_t number_of(int fd) noexcept {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

FarEnd far_end(std::span<const std::byte> address) {
  sockaddr_storage name{};
  if (address.size() < sizeof(sockaddr_in) || address.size() > sizeof name) return {};
  std::memcpy(&name, address.data(), address.size());
  const auto made = [&](std::size_t port_at, std::size_t host_at, std::size_t host_bytes) {
    FarEnd end;
    std::uint16_t port = 0;
    std::memcpy(&port, address.data() + port_at, sizeof port);
    end.port = ntohs(port);
    end.host.assign(address.begin() + static_cast<std::ptrdiff_t>(host_at),
                    address.begin() + static_cast<std::ptrdiff_t>(host_at + host_bytes));
    return end;
  };
  if (name.ss_family == AF_INET)
    return made(offsetof(sockaddr_in, sin_port), offsetof(sockaddr_in, sin_addr), 4);
  if (name.ss_family == AF_INET6 && address.size() >= sizeof(sockaddr_in6)) {
    return made(offsetof(sockaddr_in6, sin6_port), offsetof(sockaddr_in6, sin6_addr), 16);
  }
  return {};
}

std::vector<Connection> connections(std::span<const std::uint16_t> own_ports,
                                    const std::function<bool(const FarEnd&)>& leads_to_peer) {
  std::vector<Connection> found;
  for (const int fd : open_descriptors()) {
    const auto near = name_of(fd, &::getsockname);
    if (!near) continue;
    const auto far = name_of(fd, &::getpeername);
    if (!far) continue;
    const bool accepted = std::find(own_ports.begin(), own_ports.end(), near->port) != own_ports.end();
    if (!accepted && !leads_to_peer(*far)) continue;
    const auto info = established(fd);
    if (!info) continue;
    // A peer that computes still acknowledges, through its kernel.
    const bool repeated = info->tcpi_unacked != 0 && info->tcpi_retransmits != 0;
    found.push_back(
        {number_of(fd), *far, accepted, repeated ? std::uint64_t{info->tcpi_last_ack_recv} * 1'000'000 : 0});
  }
  return found;
}

bool leads_to(std::span<const Connection> connections, std::span<const std::byte> port) {
  const FarEnd peer = far_end(port);
  return std::any_of(connections.begin(), connections.end(), [&](const Connection& connection) {
    return connection.accepted ? connection.far.host == peer.host : connection.far == peer;
  });
}

std::uint64_t silence(std::span<const Connection> connections, std::span<const std::byte> port) {
  constexpr std::uint64_t kWorthDoubtNs = 1'000'000'000;
  std::uint64_t longest = 0;
  for (const Connection& connection : connections) {
    if (connection.silent_ns > longest && leads_to({&connection, 1}, port)) longest = connection.silent_ns;
  }
  return longest >= kWorthDoubtNs ? longest : 0;
}

}  // namespace starling::btl::net

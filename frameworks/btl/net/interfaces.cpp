// SPDX-License-Identifier: BSD-3-Clause
// Interfaces of this machine, and the choice of one. Layer: framework. Design: docs/design/network.md.

#include "frameworks/btl/net/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "params/excerpt.hpp"

namespace starling::btl::net {
namespace {

// Bridges and cables that container and virtual-machine software makes: they lead to no other node.
constexpr std::array<std::string_view, 9> kVirtual = {"docker", "virbr", "veth",    "br-",  "cni",
                                                      "podman", "lxc",   "flannel", "vmnet"};

bool made_for_containers(std::string_view name) noexcept {
  return std::any_of(kVirtual.begin(), kVirtual.end(),
                     [name](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; });
}

bool link_local(const IpAddress& address) noexcept {
  const auto* const b = address.bytes;
  return address.v6 ? b[0] == 0xfe && (b[1] & 0xc0) == 0x80 : b[0] == 169 && b[1] == 254;
}

std::optional<IpAddress> address_of(const sockaddr* from) noexcept {
  IpAddress address;
  if (from->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, from, sizeof(in));
    std::memcpy(address.bytes, &in.sin_addr, 4);
    return address;
  }
  if (from->sa_family != AF_INET6) return {};
  sockaddr_in6 in6{};
  std::memcpy(&in6, from, sizeof(in6));
  std::memcpy(address.bytes, &in6.sin6_addr, 16);
  address.v6 = true;
  return address;
}

struct Subnet {
  IpAddress address;
  unsigned bits = 0;
};

/// Empty: `text` is no subnet (but perhaps a name).
std::optional<Subnet> parse_subnet(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {};
  Subnet subnet;
  const std::string host(text.substr(0, slash));
  if (::inet_pton(AF_INET, host.c_str(), subnet.address.bytes) != 1) {
    if (::inet_pton(AF_INET6, host.c_str(), subnet.address.bytes) != 1) return {};
    subnet.address.v6 = true;
  }
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + slash + 1, end, subnet.bits);
  if (parsed.ec != std::errc() || parsed.ptr != end || subnet.bits > (subnet.address.v6 ? 128u : 32u))
    return {};
  return subnet;
}

bool fits(const Interface& interface, std::string_view wanted) {
  if (interface.name == wanted || interface.address.text() == wanted) return true;
  const auto subnet = parse_subnet(wanted);
  return subnet && interface.address.in_subnet(subnet->address, subnet->bits);
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma != 0) items.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return items;
}

Result<Interface> choose_by_itself(std::span<const Interface> available,
                                   const std::vector<std::string_view>& without) {
  const Interface* second_best = nullptr;
  for (const Interface& interface : available) {
    const bool excluded = std::any_of(without.begin(), without.end(),
                                      [&](std::string_view item) { return fits(interface, item); });
    if (excluded) continue;
    if (interface.loopback) {
      if (second_best == nullptr) second_best = &interface;
    } else if (!made_for_containers(interface.name)) {
      return interface;
    }
  }
  if (second_best != nullptr) return *second_best;
  return fail(Errc::not_found, "network interface",
              "none is left to choose; available: " + list_of(available) +
                  " (those of containers and virtual machines are used only when they are named)");
}

}  // namespace

std::string IpAddress::text() const {
  char buffer[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, buffer, sizeof(buffer));
  return buffer;
}

bool IpAddress::in_subnet(const IpAddress& other, unsigned bits) const noexcept {
  if (v6 != other.v6) return false;
  const unsigned whole = bits / 8;
  if (std::memcmp(bytes, other.bytes, whole) != 0) return false;
  if (bits % 8 == 0) return true;
  const unsigned shift = 8 - bits % 8;
  return (bytes[whole] >> shift) == (other.bytes[whole] >> shift);
}

Result<std::vector<Interface>> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return fail(system_error("network interface", "getifaddrs", errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &::freeifaddrs);
  std::vector<std::pair<unsigned, Interface>> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    constexpr unsigned kWorks = IFF_UP | IFF_RUNNING;
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & kWorks) != kWorks) continue;
    const auto address = address_of(entry->ifa_addr);
    if (!address || link_local(*address)) continue;
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const auto& item) { return item.second.name == entry->ifa_name; });
    if (known == found.end()) {
      const bool loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
      found.emplace_back(::if_nametoindex(entry->ifa_name), Interface{entry->ifa_name, *address, loopback});
    } else if (known->second.address.v6 && !address->v6) {
      known->second.address = *address;
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Interface> result;
  for (auto& item : found) result.push_back(std::move(item.second));
  return result;
}

Result<Interface> choose_interface(std::span<const Interface> available, std::string_view wanted) {
  if (wanted.empty()) return choose_by_itself(available, {});
  if (wanted.front() == '^') return choose_by_itself(available, split(wanted.substr(1)));
  for (std::string_view item : split(wanted)) {
    const auto found = std::find_if(available.begin(), available.end(),
                                    [item](const Interface& interface) { return fits(interface, item); });
    if (found != available.end()) return *found;
  }
  return fail(Errc::bad_parameter, "network interface",
              "expected the name, address or subnet of an interface that is up, found \"" +
                  params::excerpt(wanted) + "\"; available: " + list_of(available));
}

std::string list_of(std::span<const Interface> available) {
  std::string text;
  for (const Interface& interface : available) {
    text += (text.empty() ? "" : ", ") + interface.name + " (" + interface.address.text() + ")";
  }
  return text.empty() ? "none" : text;
}

}  // namespace starling::btl::net

// SPDX-License-Identifier: BSD-3-Clause
// Names of hosts. Layer: tools.

#include "tools/mpiexec/hosts.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <memory>

#include "tools/mpiexec/options.hpp"

namespace starling::mpiexec {
namespace {

bool same_address(const sockaddr* one, const sockaddr* two) {
  if (one == nullptr || two == nullptr || one->sa_family != two->sa_family) return false;
  if (one->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(one)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(two)->sin_addr.s_addr;
  }
  if (one->sa_family == AF_INET6) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(one)->sin6_addr,
                       &reinterpret_cast<const sockaddr_in6*>(two)->sin6_addr, sizeof(in6_addr)) == 0;
  }
  return false;
}

/// Whether a name's address belongs to an interface of this machine.
bool resolves_to_us(const std::string& name) {
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, nullptr, &found) != 0) return false;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> interfaces(first, ::freeifaddrs);
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
      if (same_address(address->ai_addr, at->ifa_addr)) return true;
    }
  }
  return false;
}

std::string user_name() {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> text(16 * 1024);
  if (::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_name;
}

/// Without "user@": no launcher takes another user for its ranks.
Result<std::string> without_user(const std::string& written) {
  const std::size_t at = written.find('@');
  if (at == std::string::npos) return written;
  const std::string own = user_name();
  if (written.substr(0, at) == own) return written.substr(at + 1);
  return fail(Errc::bad_parameter, kWhere,
              "host \"" + written + "\": ranks run as the user who starts them (" +
                  (own.empty() ? std::to_string(::geteuid()) : own) +
                  "); write the host's name alone, and put another name for ssh into ~/.ssh/config");
}

/// One colon begins the slots; an address of IPv6 has more.
Result<Host> read_host(const std::string& with_user) {
  auto name = without_user(with_user);
  if (!name) return fail(std::move(name).error());
  const std::string& written = *name;
  const std::size_t colon = written.find(':');
  if (colon == std::string::npos || written.find(':', colon + 1) != std::string::npos)
    return Host{written, 0};
  Host host{written.substr(0, colon), 0};
  const char* const end = written.data() + written.size();
  const auto [stop, code] = std::from_chars(written.data() + colon + 1, end, host.slots);
  if (code != std::errc{} || stop != end || host.slots == 0 || host.slots > kMaxRanks || host.name.empty()) {
    return fail(Errc::bad_parameter, kWhere,
                "host \"" + written +
                    "\": NAME or NAME:SLOTS was expected, with a number of slots from 1 to " +
                    std::to_string(kMaxRanks));
  }
  return host;
}

}  // namespace

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

bool is_this_machine(const std::string& name) {
  const std::string own = host_name();
  const std::string short_own = own.substr(0, own.find('.'));
  if (name == "localhost" || name == own || name == short_own || name == "127.0.0.1" || name == "::1")
    return true;
  return resolves_to_us(name);
}

Result<std::vector<Host>> read_hosts(const std::vector<std::string>& written) {
  std::vector<Host> hosts;
  for (const std::string& word : written) {
    auto host = read_host(word);
    if (!host) return fail(std::move(host).error());
    const auto same = [&](const Host& known) { return known.name == host->name; };
    const auto known = std::find_if(hosts.begin(), hosts.end(), same);
    if (known == hosts.end()) {
      hosts.push_back(std::move(*host));
    } else {
      known->slots = std::max(known->slots, 1u) + std::max(host->slots, 1u);
    }
  }
  return hosts;
}

}  // namespace starling::mpiexec

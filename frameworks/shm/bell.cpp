// SPDX-License-Identifier: BSD-3-Clause
// The bell's socket. Layer: framework. See docs/design/waiting.md.

#include "frameworks/shm/bell.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace starling::shm {
namespace {

constexpr char kDoorbell[] = "doorbell";
constexpr std::size_t kNameBytes = 5;  // what the kernel gives, behind the NUL of the abstract namespace
constexpr int kKind = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

}  // namespace

Result<Bell> Bell::open() {
  UniqueFd socket(::socket(AF_UNIX, kKind, 0));
  if (!socket) return fail(system_error(kDoorbell, "socket", errno));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(sa_family_t)) != 0) {
    return fail(system_error(kDoorbell, "bind", errno));
  }
  socklen_t length = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return fail(system_error(kDoorbell, "getsockname", errno));
  }
  if (length != offsetof(sockaddr_un, sun_path) + 1 + kNameBytes) {
    return fail(Errc::unsupported, kDoorbell, "the kernel gave a name of an unknown form");
  }
  std::uint64_t name = 0;
  std::memcpy(&name, address.sun_path + 1, kNameBytes);
  return Bell(std::move(socket), name);
}

void Bell::silence() noexcept {
  char byte = 0;
  while (::recv(socket_.get(), &byte, sizeof byte, 0) >= 0) {
  }
}

void Bell::ring(std::uint64_t name) noexcept {
  static const UniqueFd socket(::socket(AF_UNIX, kKind, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, &name, kNameBytes);
  constexpr socklen_t kLength = offsetof(sockaddr_un, sun_path) + 1 + kNameBytes;
  (void)::sendto(socket.get(), nullptr, 0, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                 kLength);
}

}  // namespace starling::shm

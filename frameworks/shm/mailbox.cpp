// SPDX-License-Identifier: BSD-3-Clause
// Datagrams between the processes of a node. Layer: framework.

#include "frameworks/shm/mailbox.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace starling::shm {
namespace {

constexpr char kMailbox[] = "mailbox";
constexpr std::size_t kNameBytes = 5;  // what the kernel gives, behind the NUL of the abstract namespace
constexpr socklen_t kAddressBytes = offsetof(sockaddr_un, sun_path) + 1 + kNameBytes;

/// Room for one descriptor, aligned as the kernel's header needs it.
struct OneDescriptor {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))];
};

std::uint64_t name_of(const sockaddr_un& address, socklen_t length) noexcept {
  std::uint64_t name = 0;
  if (length == kAddressBytes) std::memcpy(&name, address.sun_path + 1, kNameBytes);
  return name;
}

/// Where somebody has sent two, which the room's padding allows, none is kept.
UniqueFd only_descriptor(const cmsghdr* header) noexcept {
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return {};
  UniqueFd only;
  for (std::size_t at = 0; CMSG_LEN((at + 1) * sizeof(int)) <= header->cmsg_len; ++at) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header) + at * sizeof(int), sizeof descriptor);
    UniqueFd owned(descriptor);
    if (at == 0) {
      only = std::move(owned);
    } else {
      only.reset();
    }
  }
  return only;
}

}  // namespace

Result<Mailbox> Mailbox::open(bool waits) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), 0));
  if (!socket) return fail(system_error(kMailbox, "socket", errno));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(sa_family_t)) != 0) {
    return fail(system_error(kMailbox, "bind", errno));
  }
  socklen_t length = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return fail(system_error(kMailbox, "getsockname", errno));
  }
  const std::uint64_t name = name_of(address, length);
  if (name == 0) return fail(Errc::unsupported, kMailbox, "the kernel gave a name of an unknown form");
  Mailbox box(std::move(socket), name);
  // Where datagrams are refused (a seccomp filter) a thread that waits for one could not be ended.
  if (const int error = box.send(name, {}); error != 0) return fail(system_error(kMailbox, "sendmsg", error));
  if (!box.receive({})) return fail(system_error(kMailbox, "recvmsg", errno));
  return box;
}

int Mailbox::send(std::uint64_t to, std::span<const std::byte> datagram, int descriptor) const noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, &to, kNameBytes);
  iovec data{const_cast<std::byte*>(datagram.data()), datagram.size()};
  OneDescriptor control{};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = kAddressBytes;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}

std::optional<Mailbox::Datagram> Mailbox::receive(std::span<std::byte> datagram) const noexcept {
  sockaddr_un address{};
  iovec data{datagram.data(), datagram.size()};
  OneDescriptor control{};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = sizeof address;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  // MSG_TRUNC: the length of the datagram, also if it does not fit.
  const ssize_t bytes = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
  if (bytes < 0) return std::nullopt;
  Datagram read;
  read.bytes = static_cast<std::size_t>(bytes);
  read.from = name_of(address, message.msg_namelen);
  read.descriptor = only_descriptor(CMSG_FIRSTHDR(&message));
  return read;
}

}  // namespace starling::shm

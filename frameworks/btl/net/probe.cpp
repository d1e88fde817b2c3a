// SPDX-License-Identifier: BSD-3-Clause
// A connection that is only tried. Layer: framework, for the network btls. Design: docs/design/network.md.

#include "frameworks/btl/net/probe.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace starling::btl::net {
namespace {

Probe::Answer answer_of(int error) noexcept {
  switch (error) {
    case 0: return Probe::Answer::listens;
    case EINPROGRESS: return Probe::Answer::none_yet;
    case ECONNREFUSED: return Probe::Answer::refused;
    default: return Probe::Answer::unknown;  // a cable may be out: that can pass
  }
}

}  // namespace

void Probe::start(std::span<const std::byte> address) noexcept {
  sockaddr_storage name{};
  early_ = Answer::unknown;
  if (address.size() < sizeof(sockaddr_in) || address.size() > sizeof(name)) return;
  std::memcpy(&name, address.data(), address.size());
  if (name.ss_family != AF_INET && name.ss_family != AF_INET6) return;
  socket_ = UniqueFd(::socket(name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket_.get() < 0) return;
  const int code = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&name),
                             static_cast<socklen_t>(address.size()));
  early_ = answer_of(code == 0 ? 0 : errno);
}

Probe::Answer Probe::look() noexcept {
  Answer answer = std::exchange(early_, Answer::none_yet);
  if (answer == Answer::none_yet) {
    pollfd descriptor{socket_.get(), POLLOUT, 0};
    if (::poll(&descriptor, 1, 0) <= 0) return Answer::none_yet;
    int error = 0;
    socklen_t length = sizeof(error);
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    answer = answer_of(error);
  }
  socket_.reset();
  return answer;
}

Probe::Answer Probe::ask(std::span<const std::byte> address, std::uint64_t limit_ns) noexcept {
  Probe probe;
  probe.start(address);
  if (probe.early_ == Answer::none_yet) {
    pollfd descriptor{probe.socket_.get(), POLLOUT, 0};
    (void)::poll(&descriptor, 1, static_cast<int>(limit_ns / 1'000'000));
  }
  return probe.look();
}

}  // namespace starling::btl::net

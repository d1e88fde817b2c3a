// SPDX-License-Identifier: BSD-3-Clause
// The stream to a PMI-1 or PMI-2 server. Layer: framework. See docs/design/pmi.md.

#include "frameworks/pmi/connection.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/drain.hpp"

namespace starling::pmi {
namespace {

constexpr std::uint64_t kUnreadNs = 10'000'000'000;

int poll_timeout_ms(Deadline deadline) noexcept {
  if (deadline.never()) return -1;
  return static_cast<int>(std::min<std::uint64_t>(deadline.left_ns() / 1'000'000u + 1, 1u << 30));
}

/// Waits until the connection attempt of a non-blocking socket ends; gives its errno.
int connect_result(int fd, Deadline deadline) {
  pollfd waiting{fd, POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, poll_timeout_ms(deadline));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t bytes = sizeof error;
  if (ready < 0 || ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) return errno;
  return error;
}

}  // namespace

Unexpected Connection::server_gone() const {
  return fail(Errc::peer_lost, where_,
              "the process manager closed the connection (it ended, or it ends this job)");
}

Connection::Connection(UniqueFd fd, const char* where) : fd_(std::move(fd)), where_(where) {
  const int flags = ::fcntl(fd_.get(), F_GETFD);
  if (flags >= 0) ::fcntl(fd_.get(), F_SETFD, flags | FD_CLOEXEC);
}

Result<UniqueFd> Connection::connect_tcp(const std::string& host, const std::string& port, Deadline deadline,
                                         const char* where) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); code != 0) {
    return fail(Errc::not_found, where, "PMI_PORT: host " + host + ": " + ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  int error = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    UniqueFd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol));
    if (!fd) {
      error = errno;
      continue;
    }
    error = ::connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = connect_result(fd.get(), deadline);
    if (error != 0) continue;
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
    const int yes = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
  }
  return fail(system_error(where, "cannot connect to PMI_PORT=" + host + ":" + port, error));
}

// A server that does not read for so long is stuck; what is sent then waits in the stream behind the rest.
Result<void> Connection::send_alone(std::string_view text) {
  if (unanswered_) (void)await_read(fd_.get(), Deadline::after_ns(kUnreadNs));
  return send(text);
}

Result<void> Connection::send(std::string_view text) {
  unanswered_ = true;
  while (!text.empty()) {
    const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN ||
                     errno == EWOULDBLOCK)) {  // somebody else made the shared description non-blocking
      pollfd waiting{fd_.get(), POLLOUT, 0};
      ::poll(&waiting, 1, -1);
      continue;
    }
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return server_gone();
    if (sent < 0) return fail(system_error(where_, "cannot write to the process manager", errno));
    bytes_sent_ += static_cast<std::uint64_t>(sent);
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<bool> Connection::fill() {
  char chunk[16 * 1024];
  for (;;) {
    const ssize_t got = ::recv(fd_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (got > 0) {
      unanswered_ = false;
      bytes_received_ += static_cast<std::uint64_t>(got);
      reader_.append({chunk, static_cast<std::size_t>(got)});
      return true;
    }
    if (got == 0 || errno == ECONNRESET) return server_gone();
    if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return fail(system_error(where_, "cannot read from the process manager", errno));
  }
}

Result<std::optional<wire::Message>> Connection::receive_now() {
  for (;;) {
    auto message = reader_.next();
    if (!message || *message) return message;
    auto more = fill();
    if (!more) return fail(std::move(more).error());
    if (!*more) return std::optional<wire::Message>{};
  }
}

Result<wire::Message> Connection::receive(Deadline deadline) {
  for (;;) {
    auto message = receive_now();
    if (!message) return fail(std::move(message).error());
    if (*message) return std::move(**message);
    pollfd waiting{fd_.get(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, poll_timeout_ms(deadline));
    if (ready < 0 && errno != EINTR) return fail(system_error(where_, "poll", errno));
    if (ready <= 0 && deadline.passed())
      return fail(Errc::timed_out, where_, "no answer from the process manager in time");
  }
}

}  // namespace starling::pmi

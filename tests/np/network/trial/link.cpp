// SPDX-License-Identifier: BSD-3-Clause
// Streams of btl/trial. Layer: tests.

#include "tests/np/network/trial/link.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "core/clock.hpp"

namespace starling::btl::trial {
namespace {

struct Hello {
  std::uint32_t magic = 0x7472696c;
  std::uint32_t world = 0;
  std::uint32_t rank = 0;
};

// Lengths that no message has.
constexpr std::uint32_t kLeaving = 0xffffffff, kBack = 0xfffffffe;

}  // namespace

SocketAddress SocketAddress::tcp(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  auto& in = reinterpret_cast<sockaddr_in&>(address.storage);
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &in.sin_addr);
  address.length = sizeof in;
  return address;
}

SocketAddress SocketAddress::file(const std::string& path) {
  SocketAddress address;
  auto& un = reinterpret_cast<sockaddr_un&>(address.storage);
  un.sun_family = AF_UNIX;
  path.copy(un.sun_path, sizeof un.sun_path - 1);
  address.length = sizeof un;
  return address;
}

Result<SocketAddress> SocketAddress::from(std::span<const std::byte> bytes) {
  SocketAddress address;
  if (bytes.size() != sizeof(sockaddr_in)) {
    return fail(Errc::bad_input, "btl/trial",
                "an address has " + std::to_string(bytes.size()) + " bytes, 16 were expected");
  }
  std::memcpy(&address.storage, bytes.data(), bytes.size());
  address.length = static_cast<socklen_t>(bytes.size());
  return address;
}

std::vector<std::byte> SocketAddress::bytes() const {
  const auto* const first = reinterpret_cast<const std::byte*>(&storage);
  return {first, first + length};
}

UniqueFd SocketAddress::socket() const {
  return UniqueFd(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

Outgoing::Outgoing(ProcId self, ProcId peer, SocketAddress to, Manner manner, Component::Counters& counters)
    : self_(self), peer_(peer), to_(to), manner_(manner), counters_(counters) {}

bool Outgoing::connected() noexcept {
  if (socket_) return true;
  if (void_ || broken_) return false;
  UniqueFd socket = to_.socket();
  if (::connect(socket.get(), to_.get(), to_.length) != 0) {
    void_ = manner_.lose_early;
    refused_ = broken_ = !void_ && errno == ECONNREFUSED;
    return false;
  }
  const int on = 1;
  if (to_.storage.ss_family == AF_INET) {
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const Hello hello{.world = peer_.world, .rank = self_.rank};
  broken_ = broke_ = ::send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) != ssize_t{sizeof hello};
  socket_ = std::move(socket);
  return !broken_;
}

void Outgoing::queue(std::vector<std::byte> bytes) {
  ++counters_.messages_sent;
  counters_.bytes_sent += bytes.size();
  (void)connected();
  if (void_) return;  // as with a datagram: nobody is told
  queue_frame(static_cast<std::uint32_t>(bytes.size()), bytes);
}

void Outgoing::tell_idle(bool idle) {
  if (!socket_ || broken_ || told_idle_ == idle) return;
  told_idle_ = idle;
  queue_frame(idle ? kLeaving : kBack, {});
}

void Outgoing::queue_frame(std::uint32_t length, std::span<const std::byte> bytes) {
  std::vector<std::byte> frame(sizeof length + bytes.size());
  std::memcpy(frame.data(), &length, sizeof length);
  if (!bytes.empty()) std::memcpy(frame.data() + sizeof length, bytes.data(), bytes.size());
  queued_bytes_ += frame.size();
  queue_.push_back({manner_.hold_ns == 0 ? 0 : now_ns() + manner_.hold_ns, std::move(frame)});
  (void)push();
}

Post Outgoing::send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept {
  std::byte* const room = reserve(header.size() + payload.size());
  if (room == nullptr) return Post::again;
  if (!header.empty()) std::memcpy(room, header.data(), header.size());
  if (!payload.empty()) std::memcpy(room + header.size(), payload.data(), payload.size());
  commit(header.size() + payload.size());
  return Post::done;
}

std::byte* Outgoing::reserve(std::size_t bytes) noexcept {
  if (queued_bytes_ + bytes > kQueueBytes) {
    ++counters_.full;
    return nullptr;
  }
  scratch_.resize(bytes);
  return scratch_.data();
}

void Outgoing::commit(std::size_t bytes) noexcept {
  scratch_.resize(bytes);
  queue(std::move(scratch_));
  scratch_.clear();
}

int Outgoing::push() noexcept {
  int frames = 0;
  while (!queue_.empty() && connected()) {
    Frame& frame = queue_.front();
    if (frame.not_before_ns > now_ns()) break;
    const ssize_t sent = ::send(socket_.get(), frame.bytes.data() + frame.written,
                                frame.bytes.size() - frame.written, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) {
      broken_ = true;
      broke_ = !told_idle_;
    }
    if (sent < 0) break;
    frame.written += static_cast<std::size_t>(sent);
    if (frame.written < frame.bytes.size()) break;
    queued_bytes_ -= frame.bytes.size();
    queue_.pop_front();
    ++frames;
  }
  if (broken_) {
    queue_.clear();
    queued_bytes_ = 0;
  }
  return frames;
}

Incoming::State Incoming::pull(Sink& sink, Component::Counters& counters) {
  const std::size_t before = bytes_.size();
  constexpr std::size_t kRoom = 256 * 1024;
  bytes_.resize(before + kRoom);
  const ssize_t got = ::recv(socket_.get(), bytes_.data() + before, kRoom, MSG_DONTWAIT);
  bytes_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got < 0) return errno == EAGAIN ? State::idle : State::ended;
  if (got == 0) return State::ended;
  deliver(sink, counters);
  return State::some;
}

void Incoming::deliver(Sink& sink, Component::Counters& counters) {
  std::size_t at = 0;
  if (!known_) {
    Hello hello;
    if (bytes_.size() < sizeof hello) return;
    std::memcpy(&hello, bytes_.data(), sizeof hello);
    at = sizeof hello;
    origin_.proc = ProcId{hello.world, hello.rank};
    known_ = true;
  }
  std::uint32_t length = 0;
  while (bytes_.size() - at >= sizeof length) {
    std::memcpy(&length, bytes_.data() + at, sizeof length);
    left_ = length == kLeaving;
    if (length >= kBack) {
      at += sizeof length;
      continue;
    }
    if (bytes_.size() - at - sizeof length < length) break;
    ++counters.messages_received;
    counters.bytes_received += length;
    sink.on_message(origin_, std::span(bytes_).subspan(at + sizeof length, length));
    at += sizeof length + length;
  }
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace starling::btl::trial

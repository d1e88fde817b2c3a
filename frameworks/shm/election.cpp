// SPDX-License-Identifier: BSD-3-Clause
// Asking to be elected. What is hard: anybody on the machine can bind or connect to an abstract name, so only
// the kernel's word about the other side's user is believed, and a holder that never answers must not be
// waited for beyond the deadline. Layer: framework. Design: docs/design/shared-memory.md.

#include "frameworks/shm/election.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "frameworks/shm/election_wire.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {
namespace {

constexpr std::uint64_t kRetryNs = 1'000'000;
/// A holder that does not answer may be stopped: after this time another one that gives is asked.
constexpr int kAnswerMs = 1000;
/// Between bind and listen lie microseconds; who takes longer is no process of this job.
constexpr std::uint64_t kDeafNs = 5'000'000'000;
constexpr int kBacklog = 4096;

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
  explicit Address(const SegmentSpec& spec) {
    const std::string text = election_name(spec);
    name.sun_family = AF_UNIX;
    const std::size_t bytes = std::min(text.size() - 1, sizeof(name.sun_path) - 1);
    std::memcpy(name.sun_path + 1, text.data() + 1, bytes);  // the leading zero byte makes it abstract
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
  }
  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&name); }
};

UniqueFd new_socket() noexcept {
  return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Unexpected denied(const SegmentSpec& spec, const std::string& who) {
  return fail(Errc::denied, "socket " + election_name(spec),
              who + " holds this name, which belongs to this job; select shm=posix, which does not need it");
}

void pause_for(std::uint64_t ns, Deadline deadline) noexcept {
  const std::uint64_t left = std::min(ns, deadline.left_ns());
  ::usleep(static_cast<useconds_t>(left / 1000 + 1));
}

enum class Asked { handed, ended, silent };

/// Waits for the answer of a holder of this user.
Result<Asked> await_offer(int socket, const SegmentSpec& spec, Deadline deadline, Election& election) {
  const std::uint64_t left_ms = deadline.left_ns() / 1'000'000 + 1;
  pollfd ready{socket, POLLIN, 0};
  const int wait_ms = left_ms < kAnswerMs ? static_cast<int>(left_ms) : kAnswerMs;
  const int count = ::poll(&ready, 1, wait_ms);
  if (count == 0 || (count < 0 && errno == EINTR)) return Asked::silent;
  auto offer = wire::receive_offer(socket);
  if (!offer) return fail(std::move(offer).error().within("socket " + election_name(spec)));
  if (!*offer) return Asked::ended;
  if ((*offer)->offer.nonce != job_nonce(spec.job) || (*offer)->offer.bytes != spec.bytes) {
    return fail(Errc::bad_input, "socket " + election_name(spec),
                "a segment of " + std::to_string((*offer)->offer.bytes) + " bytes is offered, " +
                    std::to_string(spec.bytes) +
                    " were expected: all processes of a job must see the same shm_* parameters");
  }
  const wire::Offer& said = (*offer)->offer;
  election = Election{std::move((*offer)->listener), std::move((*offer)->memory),
                      std::string(said.why, ::strnlen(said.why, sizeof said.why))};
  return Asked::handed;
}

/// Binds the name. An empty descriptor: somebody has it.
Result<UniqueFd> try_bind(const SegmentSpec& spec, const Address& address) {
  UniqueFd socket = new_socket();
  if (!socket) return fail(system_error("socket " + election_name(spec), "cannot be made", errno));
  if (::bind(socket.get(), address.get(), address.length) == 0) {
    if (::listen(socket.get(), kBacklog) == 0) return socket;
    return fail(system_error("socket " + election_name(spec), "listen", errno));
  }
  if (errno == EADDRINUSE) return UniqueFd{};
  return fail(system_error("socket " + election_name(spec), "bind", errno));
}

}  // namespace

std::string election_name(const SegmentSpec& spec) {
  char name[64];
  std::snprintf(name, sizeof name, "@starling-%u-%016llx-%u", static_cast<unsigned>(::geteuid()),
                static_cast<unsigned long long>(job_nonce(spec.job)), static_cast<unsigned>(spec.node));
  return name;
}

Result<std::optional<Election>> elect(const SegmentSpec& spec, Deadline deadline) {
  const Address address(spec);
  std::uint64_t deaf_since_ns = 0;
  Election election;
  for (; !deadline.passed(); pause_for(kRetryNs, deadline)) {
    auto bound = try_bind(spec, address);
    if (!bound) return fail(std::move(bound).error());
    if (*bound) {
      election.listener = std::move(*bound);
      return std::optional<Election>(std::move(election));
    }
    const UniqueFd socket = new_socket();
    if (!socket) return fail(system_error("socket " + election_name(spec), "cannot be made", errno));
    if (::connect(socket.get(), address.get(), address.length) != 0) {
      if (errno != ECONNREFUSED && errno != EAGAIN) {
        return fail(system_error("socket " + election_name(spec), "connect", errno));
      }
      const bool deaf = errno == ECONNREFUSED;
      if (!deaf || deaf_since_ns == 0) deaf_since_ns = deaf ? now_ns() : 0;
      if (deaf && now_ns() - deaf_since_ns > kDeafNs) return denied(spec, "a process that does not listen");
      continue;
    }
    deaf_since_ns = 0;
    const std::optional<ucred> holder = wire::peer_of(socket.get());
    if (!holder || holder->uid != ::geteuid()) {
      return denied(spec, holder ? "user " + std::to_string(holder->uid) : "an unknown user");
    }
    auto asked = await_offer(socket.get(), spec, deadline, election);
    if (!asked) return fail(std::move(asked).error());
    if (*asked == Asked::handed) return std::optional<Election>(std::move(election));
    if (*asked == Asked::ended) return std::optional<Election>{};
  }
  return fail(Errc::timed_out, "socket " + election_name(spec),
              "the processes that hold this node's shared memory did not hand it over (are they stopped?)");
}

}  // namespace starling::shm

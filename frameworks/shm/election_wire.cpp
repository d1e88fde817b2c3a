// SPDX-License-Identifier: BSD-3-Clause
// Descriptors over a unix socket. Layer: framework. Design: docs/design/shared-memory.md.

#include "frameworks/shm/election_wire.hpp"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace starling::shm::wire {
namespace {

constexpr std::size_t kDescriptors = 2;

/// An offer with room for the descriptors that go beside it, as sendmsg and recvmsg take it.
struct Envelope {
  explicit Envelope(Offer& offer) noexcept : data{&offer, sizeof offer} {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;

  iovec data;
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptors * sizeof(int))] = {};
  msghdr message{};
};

}  // namespace

std::optional<ucred> peer_of(int socket) noexcept {
  ucred who{};
  socklen_t length = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return std::nullopt;
  return who;
}

bool send_offer(int socket, const Offer& offer, int memory, int listener) noexcept {
  Offer copy = offer;
  Envelope envelope(copy);
  cmsghdr* const header = CMSG_FIRSTHDR(&envelope.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kDescriptors * sizeof(int));
  const int descriptors[kDescriptors] = {memory, listener};
  std::memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
  return ::sendmsg(socket, &envelope.message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(sizeof copy);
}

Result<std::optional<Received>> receive_offer(int socket) {
  Received received;
  Envelope envelope(received.offer);
  const msghdr& message = envelope.message;
  const ssize_t length = ::recvmsg(socket, &envelope.message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (length == 0 || (length < 0 && errno == ECONNRESET)) return std::optional<Received>{};
  if (length < 0) return fail(system_error("recvmsg", "the offer of a segment", errno));
  // Descriptors that came are owned first, so that a refusal closes them.
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  const bool rights =
      header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS;
  if (rights && header->cmsg_len >= CMSG_LEN(sizeof(int))) {
    int descriptors[kDescriptors] = {-1, -1};
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(descriptors, CMSG_DATA(header), (count < kDescriptors ? count : kDescriptors) * sizeof(int));
    received.memory = UniqueFd(descriptors[0]);
    received.listener = UniqueFd(descriptors[1]);
  }
  const bool whole = length == static_cast<ssize_t>(sizeof received.offer) &&
                     (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && received.memory &&
                     received.listener;
  if (!whole || received.offer.magic != kOfferMagic) {
    return fail(Errc::bad_input, "recvmsg", "what came is no offer of a segment");
  }
  return std::optional<Received>(std::move(received));
}

}  // namespace starling::shm::wire

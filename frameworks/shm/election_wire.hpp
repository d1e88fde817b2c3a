// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The one message that hands a segment over: an Offer with two descriptors. Layer: framework; used by
/// election.cpp and segment_server.cpp only.
///
/// Threads: any. Ownership: what was received is the caller's. Errors: anything but an Offer with exactly two
/// descriptors is Errc::bad_input.

#include <sys/socket.h>

#include <cstdint>
#include <optional>

#include "core/result.hpp"
#include "core/unique_fd.hpp"

namespace starling::shm::wire {

inline constexpr std::uint32_t kOfferMagic = 0x53'48'4f'31;

struct Offer {
  std::uint32_t magic = kOfferMagic;
  std::uint32_t reserved = 0;
  std::uint64_t nonce = 0;  ///< job_nonce() of the job that the segment belongs to
  std::uint64_t bytes = 0;  ///< the segment's size
  char why[232] = {};       ///< why other candidates were not taken, for people; NUL-terminated
};
static_assert(sizeof(Offer) == 256);

struct Received {
  Offer offer;
  UniqueFd memory;
  UniqueFd listener;
};

/// Who is at the other end, as the kernel saw it when it connected or began to listen.
[[nodiscard]] std::optional<ucred> peer_of(int socket) noexcept;
/// False if the other side is gone or takes nothing.
bool send_offer(int socket, const Offer& offer, int memory, int listener) noexcept;
/// Empty: the other side has closed without an offer.
[[nodiscard]] Result<std::optional<Received>> receive_offer(int socket);

}  // namespace starling::shm::wire

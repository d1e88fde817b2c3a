// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A message that has arrived, as far as it is known before it has been matched. Layer: framework
/// (pml).
///
/// Threads: value type. Ownership: the payload is the transport's, or its Message's. Units: bytes.

#include <cstdint>

#include "frameworks/pml/context.hpp"

namespace starling::pml {

struct Arrival {
  wire::Kind kind{};
  std::uint8_t flags = 0;
  Rank rank{0};  ///< the sender's in the context
  Tag tag{0};
  std::uint64_t length = 0;
  std::uint64_t sender_id = 0;  ///< 0 for a plain eager message
  wire::Offer offer;            ///< of an rts
  const std::byte* payload = nullptr;

  [[nodiscard]] bool eager() const noexcept { return kind <= wire::Kind::eager_sync; }
  [[nodiscard]] static Arrival of(const wire::Envelope& envelope, std::uint64_t length,
                                  std::uint64_t sender_id, const wire::Offer& offer,
                                  const std::byte* payload) noexcept {
    return {envelope.prefix.kind,
            envelope.prefix.flags,
            Rank{envelope.source},
            Tag{envelope.tag},
            length,
            sender_id,
            offer,
            payload};
  }
  [[nodiscard]] static Arrival of(Message& message) noexcept {
    return {message.kind,   message.flags,     message.rank,  message.tag,
            message.length, message.sender_id, message.offer, message.eager() ? message.payload() : nullptr};
  }
};

}  // namespace starling::pml

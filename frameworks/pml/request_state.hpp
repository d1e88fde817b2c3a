// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Where a request is, and how it ends. Layer: framework (pml).
///
/// Threads: the pml's. Ownership: a request is its caller's again once it has been completed. Errors: none.

#include "frameworks/pml/context.hpp"
#include "frameworks/pml/peer.hpp"
#include "frameworks/pml/request.hpp"

namespace starling::pml::detail {

/// Request::phase
enum Phase : std::uint32_t {
  kIdle = 0,
  kQueued = 1,     // a send in its peer's FIFO
  kAnnounced = 2,  // a send whose RTS or synchronous message is out
  kMoving = 3,     // a transfer has its data
  kOfPort = 4,     // a message of another port in a FIFO
  kPosted = 5,     // a receive that has not matched
  kHeld = 6        // a send that the receiver has no room to hear of
};

/// Request::flags
inline constexpr std::uint32_t kTruncated = 1;
inline constexpr std::uint32_t kCancelAsked = 2;
inline constexpr std::uint32_t kStallCounted = 4;
inline constexpr std::uint32_t kReleased = 8;  // was held back: goes before what is held now
inline constexpr std::uint32_t kInvited = 16;  // a receive that its sender was told of

/// Whether receives from it stay posted although it is lost: those of the program from who has left in order,
/// which it may test and cancel.
[[nodiscard]] inline bool keeps_receives(const Context& context, const Peer& peer) noexcept {
  return peer.left && context.id().channel() == Channel::point_to_point;
}

/// Why nothing can be sent to a peer without contact.
[[nodiscard]] inline Fault fault_of(const Peer& peer) noexcept {
  if (peer.state == PeerState::lost) return peer.fault;
  return peer.starved ? Fault::no_memory : Fault::unreachable;
}

/// How the receiver of a send calls its context. Its rank has been touched.
[[nodiscard]] inline ContextId wire_context_of(const Request& request) noexcept {
  return request.context->touched(request.rank)->wire_context;
}

/// The envelope of a send's message.
[[nodiscard]] inline wire::Envelope envelope_of(const Request& request, wire::Kind kind) noexcept {
  return {{kind, 0, 0, 0},
          wire_context_of(request).bits,
          to_int(request.tag),
          to_int(request.context->my_rank())};
}

/// Tells the waiter; the request is the caller's again.
inline void publish(Request& request) noexcept { request.complete.store(true, std::memory_order_release); }

inline void complete_send(Request& request, Fault fault, bool cancelled = false) noexcept {
  request.order = 0;
  request.phase = kIdle;
  request.status.fault = fault;
  request.status.cancelled = cancelled;
  request.status.bytes = request.buffer.bytes;
  publish(request);
}

inline void complete_receive(Request& request, std::uint64_t bytes, Fault fault,
                             bool cancelled = false) noexcept {
  request.order = 0;
  request.phase = kIdle;
  if (fault == Fault::none && (request.flags & kTruncated) != 0) fault = Fault::truncated;
  request.status.fault = fault;
  request.status.cancelled = cancelled;
  request.status.bytes = bytes;
  publish(request);
}

}  // namespace starling::pml::detail

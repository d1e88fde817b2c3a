// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Messages that go at once, and the credit that bounds them. Layer: framework (pml).
///
/// Each ordered pair has a window: what a sender may have out that the receiver has not consumed. What an
/// eager message takes of it is what keeping it would take at the receiver. See docs/design/pml.md, "Bounded
/// memory".
/// Threads:   the pml's.
/// Ownership: peers are the table's (their credit is in Peer, beside what every message touches).
/// Ordering:  as the endpoint's.
/// Errors:    flow control only.
/// Units:     bytes; credit in cost_of() bytes.

#include "core/copy.hpp"
#include "frameworks/pml/arrival.hpp"
#include "frameworks/pml/peer.hpp"
#include "frameworks/pml/placer.hpp"
#include "frameworks/pml/request_state.hpp"
#include "frameworks/pml/transfer.hpp"

namespace starling::pml {

/// Credit of a pair in any job.
inline constexpr std::uint64_t kWindowMax = 1024 * 1024;

class Eager {
 public:
  Eager(Outbox& outbox, TransferTable& transfers) noexcept : outbox_(outbox), transfers_(transfers) {}

  /// The whole of a contiguous message, if nothing stands in its way: it is no longer than that field of the
  /// peer's says.
  template <std::int64_t peer::Peer::*Most>
  static Post try_send(Context& context, Rank rank, Tag tag, const void* data, std::size_t bytes) noexcept;
  /// Whether the message is short enough to go at once, and whether the credit covers it.
  [[nodiscard]] static bool fits(const Peer& peer, const Request& request) noexcept {
    return request.buffer.bytes <= (request.mode == Mode::synchronous ? peer.whole_bytes : peer.eager_bytes);
  }
  [[nodiscard]] static bool in_parts(const Peer& peer, const Request& request) noexcept {
    return request.buffer.bytes > peer.parts_above && request.mode != Mode::synchronous;
  }
  [[nodiscard]] static bool covered(const Peer& peer, const Request& request) noexcept {
    return peer.credit >= cost_of(static_cast<std::size_t>(request.buffer.bytes));
  }
  /// A send that fits and is covered; again: nothing has happened. It may be complete afterwards.
  [[nodiscard]] Post start(Request& request) noexcept;

  /// A message of a peer, and where it lies.
  struct Delivery {
    Peer& from;
    Rank source;
    Tag tag;
    const std::byte* payload;
    std::size_t bytes;
    Placer::Payload lies;
  };
  /// Completes a receive with a message that fits its envelope.
  static void deliver(Request& request, const Delivery& message, Placer& placer) noexcept;
  /// The memory of a message is free again.
  void consumed(Peer& peer, std::size_t payload_bytes) noexcept {
    peer.owed += cost_of(payload_bytes);
    if (peer.owed >= peer.return_at) [[unlikely]]
      return_credit(peer);
  }
  /// Tells the peer what it is owed.
  [[gnu::noinline]] void return_credit(Peer& peer) noexcept;

 private:
  [[nodiscard]] Post start_from(Request& request, const wire::Envelope& header) noexcept;

  Outbox& outbox_;
  TransferTable& transfers_;
};

template <std::int64_t peer::Peer::*Most>
inline Post Eager::try_send(Context& context, Rank rank, Tag tag, const void* data,
                            std::size_t bytes) noexcept {
  const Source* const source = context.touched(rank);
  if (source == nullptr) [[unlikely]]
    return Post::again;
  Peer& peer = *source->peer;
  const ContextId wire_context = source->wire_context;  // here: loaded later it costs three instructions more
  const std::int64_t cost = cost_of(bytes);
  if (static_cast<std::int64_t>(bytes) > peer.*Most) [[unlikely]]
    return Post::again;
  const std::int64_t left = peer.credit - cost;
  if (left < 0) [[unlikely]]
    return Post::again;
  const wire::Envelope header{{wire::Kind::eager, 0, 0, static_cast<std::uint32_t>(bytes)},
                              wire_context.bits,
                              to_int(tag),
                              to_int(context.my_rank())};
  peer.credit = left;
  const Post post = peer.endpoint->send(wire::bytes_of(header), {static_cast<const std::byte*>(data), bytes});
  if (post == Post::again) [[unlikely]] {
    peer.credit += cost;
    return Post::again;
  }
  ++peer.eager_sent;
  peer.eager_bytes_sent += bytes;
  return Post::done;
}

inline void Eager::deliver(Request& request, const Delivery& message, Placer& placer) noexcept {
  Buffer& buffer = request.buffer;
  std::size_t fits = message.bytes;
  Fault fault = Fault::none;
  if (message.bytes > buffer.bytes) [[unlikely]] {
    fits = static_cast<std::size_t>(buffer.bytes);
    fault = Fault::truncated;
    request.total = message.bytes;
  }
  if (buffer.layout != nullptr) [[unlikely]] {
    if (!placer.place(buffer, message.from, message.payload, fits, message.lies)) {
      fault = Fault::no_memory;
      fits = 0;
    }
  } else {
    copy_payload(buffer.base, message.payload, fits);
  }
  request.phase = detail::kIdle;
  request.status = {message.source, message.tag, fault, false, fits};
  detail::publish(request);
}

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
// All messages but plain eager ones. Nothing here trusts a peer: ids, ranges and lengths are checked before
// use, and an answer to a transfer that has ended meanwhile (cancelled, peer lost) finds nothing and is
// ignored. What is hard: whatever happens to an eager message (matched, dropped, cancelled), its credit goes
// back exactly once.
#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

void Engine::on_other_kind(btl::Origin& from, std::span<const std::byte> message) noexcept {
  Peer& peer = own(from.cookie != nullptr ? *static_cast<peer::Peer*>(from.cookie) : all_.adopt(from));
  wire::Prefix prefix;
  if (!wire::read(message, prefix)) return notes_.malformed(peer, "it is shorter than any header");
  if (Protocol* const protocol = rendezvous_.protocol_of(prefix.kind))
    return protocol->on_message(peer, message);
  switch (prefix.kind) {
    case wire::Kind::eager: return notes_.malformed(peer, "it is shorter than its header");
    case wire::Kind::eager_sync: return on_eager_sync(peer, message);
    case wire::Kind::rts: return on_rts(peer, message);
    case wire::Kind::parted: return parts_.on_first(peer, message);
    case wire::Kind::part: return parts_.on_rest(peer, message);
    case wire::Kind::fin:
    case wire::Kind::sync_ack:
    case wire::Kind::cancel_answer: return rendezvous_.on_answer(peer, message);
    case wire::Kind::credit:
      peer.credit += prefix.length;
      peer.credit_got += prefix.length;
      return;
    case wire::Kind::cancel: return on_cancel(peer, message);
    case wire::Kind::held:
    case wire::Kind::go_on: return on_line(peer, message);
    case wire::Kind::pushed: return on_pushed(peer, message);
    case wire::Kind::grant:
    case wire::Kind::returned: return grants_.on_message(peer, message);
    case wire::Kind::invite: return early_.on_invite(peer, message);
    case wire::Kind::early: return early_.on_early(peer, message);
    default: all_.deliver(from, message);
  }
}

/// A message whose source has not been touched, or that is not plain eager.
void Engine::on_arrival(Peer& peer, ContextId id, const Arrival& arrival) noexcept {
  Context* const context = matcher_.find(id);
  if (context == nullptr) {
    if (matcher_.closed(id)) return refuse(peer, arrival);
    return matcher_.keep(peer, id, nullptr, nullptr, arrival);
  }
  Source* const source = matcher_.source_of(peer, *context, arrival.rank);
  if (source == nullptr) return;
  Request* const request = take_posted(*context, *source, arrival.tag);
  if (request != nullptr) {
    match(*request, peer, arrival, false);
  } else {
    matcher_.keep(peer, id, context, source, arrival);
  }
}

void Engine::match(Request& request, Peer& peer, const Arrival& arrival, bool kept) noexcept {
  if (arrival.kind == wire::Kind::pushed) return grants_.match(request, peer, arrival);
  if (!arrival.eager()) {
    if (placement_of(request.buffer) != nullptr) grants_.offer(peer, request, arrival);
    // A sender out of credit waits for what it is owed, even if that is little yet.
    if ((arrival.flags & wire::kStalled) != 0 && peer.owed > 0) eager_.return_credit(peer);
    if (!kept) early_.waited(peer, request, arrival.flags);
    Source* const source = kept ? nullptr : request.context->touched(arrival.rank);
    rendezvous_.match(request, peer, arrival, kept);  // and the request may have ended
    if (source != nullptr) early_.invite_next(*source);
    return;
  }
  Eager::deliver(request,
                 {peer, arrival.rank, arrival.tag, arrival.payload, static_cast<std::size_t>(arrival.length),
                  kept ? Placer::Payload::stored : Placer::Payload::arriving},
                 placer_);
  eager_.consumed(peer, static_cast<std::size_t>(arrival.length));
  if (arrival.kind == wire::Kind::eager_sync) answer(outbox_, peer, wire::Kind::sync_ack, arrival.sender_id);
}

/// Nobody will receive this one: its sender must not wait for it.
void Engine::refuse(Peer& peer, const Arrival& arrival) noexcept {
  if (arrival.kind == wire::Kind::pushed) return grants_.refuse(arrival);
  if (!arrival.eager()) return answer(outbox_, peer, wire::Kind::fin, arrival.sender_id);
  eager_.consumed(peer, static_cast<std::size_t>(arrival.length));
  if (arrival.kind == wire::Kind::eager_sync) answer(outbox_, peer, wire::Kind::sync_ack, arrival.sender_id);
}

void Engine::on_eager_sync(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::SyncEnvelope header;
  if (!wire::read(message, header) || message.size() - sizeof header < header.envelope.prefix.length) {
    return notes_.malformed(peer, "a synchronous message is shorter than it says");
  }
  on_arrival(peer, ContextId{header.envelope.context},
             Arrival::of(header.envelope, header.envelope.prefix.length, header.sender_id, {},
                         message.data() + sizeof header));
}

void Engine::on_rts(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Rts header;
  if (!wire::read(message, header)) return notes_.malformed(peer, "an RTS is shorter than its header");
  ++peer.ordered_taken;
  on_arrival(peer, ContextId{header.envelope.context},
             Arrival::of(header.envelope, header.length, header.sender_id, header.offer, nullptr));
}

void Engine::on_pushed(Peer& peer, std::span<const std::byte> message) noexcept {
  ++peer.ordered_taken;
  ContextId context;
  Arrival arrival;
  if (!grants_.arrived(peer, message, context, arrival)) {
    return notes_.malformed(peer, "a message lies in a buffer that was not granted for it");
  }
  on_arrival(peer, context, arrival);
}

void Engine::on_cancel(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::SyncEnvelope header;
  if (!wire::read(message, header)) return notes_.malformed(peer, "a cancel is shorter than its header");
  const auto recalled = matcher_.recall(peer, ContextId{header.envelope.context}, header.sender_id);
  // Matched already: the send will complete, or has.
  if (!recalled) return answer(outbox_, peer, wire::Kind::cancel_answer, header.sender_id);
  if (recalled->eager()) eager_.consumed(peer, static_cast<std::size_t>(recalled->length));
  answer(outbox_, peer, wire::Kind::cancel_answer, header.sender_id, wire::kGranted);
}

void Engine::on_line(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Envelope header;
  if (!wire::read(message, header)) {
    return notes_.malformed(peer, "a message about what is held back is shorter than its header");
  }
  if (header.prefix.kind == wire::Kind::held) {
    holders_.on_held(peer, header);
    all_.set_restless(holders_.any() || early_.measures());
  } else {
    sends_.on_go_on(peer, header);
  }
}

}  // namespace starling::pml

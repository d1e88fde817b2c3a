// SPDX-License-Identifier: BSD-3-Clause
// The protocols' own messages. Nothing here trusts a peer: ids, ranges and lengths are checked before use,
// and an answer to a transfer that has ended meanwhile (cancelled, peer lost) finds nothing and is ignored.
#include <cstring>

#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

Peer& Engine::adopt(btl::Origin& from) {
  Peer& peer = peers_.peer(from.proc);
  from.cookie = &peer;
  peer.heard_of = true;
  return peer;
}

void Engine::on_other(btl::Origin& from, std::span<const std::byte> message) noexcept {
  Peer& peer = from.cookie != nullptr ? *static_cast<Peer*>(from.cookie) : adopt(from);
  wire::Prefix prefix;
  if (!wire::read(message, prefix)) {
    malformed(peer, "it is shorter than any header");
    return;
  }
  switch (prefix.kind) {
    case wire::Kind::eager: malformed(peer, "it is shorter than its header"); return;
    case wire::Kind::eager_sync: on_eager_sync(peer, message); return;
    case wire::Kind::rts: on_rts(peer, message); return;
    case wire::Kind::cts: on_cts(peer, message); return;
    case wire::Kind::data: on_data(peer, message); return;
    case wire::Kind::data_at: on_data_at(peer, message); return;
    case wire::Kind::numbered: on_numbered(from, peer, message); return;
    case wire::Kind::passed: on_passed(peer, message); return;
    case wire::Kind::fin:
    case wire::Kind::sync_ack:
    case wire::Kind::cancel_answer: on_answer(peer, message); return;
    case wire::Kind::credit: peer.credit += prefix.length; return;
    case wire::Kind::control: on_control(peer, message); return;
    case wire::Kind::cancel: on_cancel(peer, message); return;
    case wire::Kind::held: on_held(peer, message); return;
    case wire::Kind::go_on: on_go_on(peer, message); return;
    case wire::Kind::lender: on_lender(peer, message); return;
    case wire::Kind::lent: on_lent(peer, message); return;
    case wire::Kind::taken: on_taken(peer, prefix.length); return;
  }
  malformed(peer, "its kind is unknown");
}

void Engine::on_eager_sync(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::SyncEnvelope header;
  if (!wire::read(message, header) || message.size() - sizeof header < header.envelope.prefix.length) {
    malformed(peer, "a synchronous message is shorter than it says");
    return;
  }
  on_arrival(
      peer,
      {header.envelope, header.envelope.prefix.length, header.sender_id, {}, message.data() + sizeof header});
}

void Engine::on_rts(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Rts header;
  if (!wire::read(message, header)) {
    malformed(peer, "an RTS is shorter than its header");
    return;
  }
  const Offered memory{header.address, header.realm};
  on_arrival(peer, {header.envelope, header.length, header.sender_id, memory, nullptr});
}

Request* Engine::transfer(Peer& peer, std::uint64_t id) const noexcept {
  Request* const request = transfers_.find(id);
  return request != nullptr && request->peer == &peer ? request : nullptr;
}

bool Engine::announced(ProcId to, const btl::RemoteBuffer& what, std::size_t bytes) noexcept {
  const Request* const request = transfers_.find(what.key);
  if (request == nullptr || request->receive || request->phase != kAnnounced) return false;
  if (request->peer->proc != to || request->buffer.layout != nullptr) return false;
  const auto first = reinterpret_cast<std::uintptr_t>(request->buffer.base);
  const std::uint64_t length = request->buffer.bytes;
  return what.address >= first && what.address - first <= length && bytes <= length - (what.address - first);
}

void Engine::on_cts(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Cts header;
  if (!wire::read(message, header)) {
    malformed(peer, "a CTS is shorter than its header");
    return;
  }
  Request* const request = transfer(peer, header.sender_id);
  if (request == nullptr || request->receive || request->phase != kAnnounced) return;
  const std::uint64_t length = request->buffer.bytes;
  if (header.offset > length || header.bytes > length - header.offset || header.bytes == 0) {
    malformed(peer, "a CTS asks for bytes that the message does not have");
    return;
  }
  not_announced_any_more(*request);
  const bool asked = (header.prefix.flags & wire::kLend) != 0;
  const bool lend = asked && peer.lender != nullptr && request->buffer.layout == nullptr;
  peer.its_way = asked ? Large::lend : Large::ring;
  if (lend) {
    request->flags |= kLending;  // counted as a get when its fin comes
  } else {
    ++peer.slow_sent.ring.count;
    peer.slow_sent.ring.bytes += header.bytes;
  }
  request->remote = header.receiver_id;
  request->moved = header.offset;
  request->total = header.offset + header.bytes;
  request->phase = kPushing;
  peer.pushing.push_back(*request);
  mark_busy(peer);
}

void Engine::on_data(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Data header;
  if (!wire::read(message, header) || message.size() - sizeof header < header.prefix.length) {
    malformed(peer, "a data fragment is shorter than it says");
    return;
  }
  Request* const request = transfer(peer, header.receiver_id);
  if (request != nullptr)
    take_data(peer, *request, request->moved, message.subspan(sizeof header, header.prefix.length));
}

void Engine::on_data_at(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::DataAt header;
  if (!wire::read(message, header) || message.size() - sizeof header < header.data.prefix.length) {
    malformed(peer, "a data fragment is shorter than it says");
    return;
  }
  Request* const request = transfer(peer, header.data.receiver_id);
  if (request != nullptr) {
    take_data(peer, *request, header.offset, message.subspan(sizeof header, header.data.prefix.length));
  }
}

/// `moved` counts bytes; over several paths they come in any order.
void Engine::take_data(Peer& peer, Request& request, std::uint64_t offset,
                       std::span<const std::byte> payload) noexcept {
  if (!request.receive || request.phase != kReceiving) return;
  const std::size_t bytes = payload.size();
  if (bytes > request.total - request.moved || offset > request.total || bytes > request.total - offset) {
    malformed(peer, "a data fragment goes beyond its transfer");
    return;
  }
  const Buffer& buffer = request.buffer;
  if (buffer.layout != nullptr) {
    buffer.layout->unpack(buffer.base, buffer.count, offset, payload.data(), bytes);
  } else if (bytes != 0) {
    std::memcpy(static_cast<std::byte*>(buffer.base) + offset, payload.data(), bytes);
  }
  request.moved += bytes;
  if (request.moved == request.total) finish_receive(request, Fault::none);
}

void Engine::on_numbered(btl::Origin& from, Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Numbered header;
  if (!wire::read(message, header) || message.size() == sizeof header ||
      static_cast<wire::Kind>(message[sizeof header]) == wire::Kind::numbered) {
    malformed(peer, "a number without a message");
    return;
  }
  const auto inner = message.subspan(sizeof header);
  if (header.number == 0) return on_message(from, inner);
  if (peer.reorder == nullptr) peer.reorder = std::make_unique<Reorder>();
  switch (peer.reorder->offer(header.number, inner)) {
    case Reorder::Place::refused: return malformed(peer, "its number is out of turn");
    case Reorder::Place::held: ++held_back_; return;
    case Reorder::Place::next: break;
  }
  on_message(from, inner);
  while (const auto next = peer.reorder->take()) on_message(from, *next);
  if (!peer.reorder->tell()) return;
  const wire::Numbered passed{{wire::Kind::passed, 0, 0, 0}, peer.reorder->taken()};
  answer(peer, wire::bytes_of(passed));
}

void Engine::on_passed(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Numbered header;
  if (!wire::read(message, header) || peer.paths == nullptr) {
    malformed(peer, "it counts messages that were not numbered");
    return;
  }
  peer.paths->passed(header.number);
}

void Engine::on_answer(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Answer header;
  if (!wire::read(message, header)) {
    malformed(peer, "an answer is shorter than its header");
    return;
  }
  if (header.prefix.kind == wire::Kind::fin && header.prefix.length != 0)
    on_taken(peer, header.prefix.length);
  Request* const request = transfer(peer, header.sender_id);
  if (request == nullptr || request->receive || request->phase != kAnnounced) return;
  if (header.prefix.kind != wire::Kind::cancel_answer) {
    if ((header.prefix.flags & wire::kGot) != 0) {
      ++peer.slow_sent.get.count;
      peer.slow_sent.get.bytes += request->buffer.bytes;
      if ((request->flags & kLending) == 0) peer.its_way = Large::get;
    }
    finish_send(*request, Fault::none);
  } else if ((header.prefix.flags & wire::kGranted) != 0) {
    finish_send(*request, Fault::none, true);
  }
}

void Engine::on_control(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Prefix prefix;
  if (!wire::read(message, prefix) || message.size() - sizeof prefix < prefix.length) {
    malformed(peer, "a control message is shorter than it says");
    return;
  }
  if (control_ != nullptr) control_->on_control(peer.proc, message.subspan(sizeof prefix, prefix.length));
}

void Engine::on_cancel(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::SyncEnvelope header;
  if (!wire::read(message, header)) {
    malformed(peer, "a cancel is shorter than its header");
    return;
  }
  const ContextId id{header.envelope.context};
  Context* const context = contexts_.find(id);
  ArrivalChain* const parked = context == nullptr ? contexts_.parked(id) : nullptr;
  Message* found = context != nullptr  ? context->arrivals.front()
                   : parked != nullptr ? parked->front()
                                       : nullptr;
  while (found != nullptr && (found->peer != &peer || found->sender_id != header.sender_id)) {
    found = ArrivalChain::after(*found);
  }
  if (found == nullptr) {  // matched already: the send will complete, or has
    answer(peer, wire::Kind::cancel_answer, header.sender_id);
    return;
  }
  if (context != nullptr) {
    remove_unexpected(*context, *found);
  } else {
    parked->remove(*found);
  }
  const bool eager = found->eager();
  const auto length = static_cast<std::size_t>(found->length);
  release(*found);
  if (eager) consumed(peer, length);
  answer(peer, wire::Kind::cancel_answer, header.sender_id, wire::kGranted);
}

void Engine::answer(Peer& peer, wire::Kind kind, std::uint64_t sender_id, std::uint8_t flags) noexcept {
  const wire::Answer header{{kind, flags, 0, 0}, sender_id};
  answer(peer, wire::bytes_of(header));
}

void Engine::answer(Peer& peer, std::span<const std::byte> message) noexcept {
  const Contact contact = peers_.connect(peer);
  if (contact == Contact::none) return;
  if (contact == Contact::made && peer.answers_sent == peer.answers.size() &&
      peer.endpoint->send(message, {}) != Post::again)
    return;
  Answered waiting;
  waiting.bytes = static_cast<std::uint32_t>(message.size());
  std::memcpy(waiting.message, message.data(), message.size());
  peer.answers.push_back(waiting);
  mark_busy(peer);
}

void Engine::return_credit(Peer& peer) noexcept {
  const wire::Prefix header{wire::Kind::credit, 0, 0, static_cast<std::uint32_t>(peer.owed)};
  peer.owed = 0;
  answer(peer, wire::bytes_of(header));
}

}  // namespace starling::pml

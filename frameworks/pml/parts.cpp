// SPDX-License-Identifier: BSD-3-Clause
// What is hard: a receive may be posted while its message is being put together, so who gets a message that
// had no receive at first is asked again at its end; and the credit goes back exactly once, whatever becomes
// of the message. Design: docs/design/pml.md, "In parts".
#include "frameworks/pml/parts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/copy.hpp"
#include "frameworks/pml/put.hpp"

namespace starling::pml {

using namespace detail;

namespace {

/// A short rest is no part of its own.
std::size_t part_of(const Peer& peer, std::uint64_t left) noexcept {
  const std::size_t part = peer.part_bytes;
  return static_cast<std::size_t>(left < part + part / 2 ? left : part);
}

}  // namespace

Parts::~Parts() {
  peers_.each([this](Peer& peer) {
    if (peer.parts_in.message != nullptr) matcher_.release(*peer.parts_in.message);
  });
}

Post Parts::send(Request& request) noexcept {
  Peer& peer = *request.peer;
  const std::uint64_t bytes = request.buffer.bytes;
  std::uint64_t& sent = peer.parts_sent;
  if (sent == 0) {
    const std::size_t part = part_of(peer, bytes);
    wire::Parted header{envelope_of(request, wire::Kind::parted), bytes};
    header.envelope.prefix.length = static_cast<std::uint32_t>(part);
    if (put(*peer.endpoint, wire::bytes_of(header), request.buffer, 0, part) == Post::again)
      return Post::again;
    peer.credit -= cost_of(static_cast<std::size_t>(bytes));
    ++peer.eager_sent;
    peer.eager_bytes_sent += bytes;
    request.phase = kMoving;
    sent = part;
  }
  while (sent != bytes) {
    const std::size_t part = part_of(peer, bytes - sent);
    const wire::Prefix header{wire::Kind::part, 0, 0, static_cast<std::uint32_t>(part)};
    if (put(*peer.endpoint, wire::bytes_of(header), request.buffer, sent, part) == Post::again)
      return Post::again;
    sent += part;
  }
  sent = 0;
  complete_send(request, Fault::none);
  return Post::done;
}

void Parts::on_first(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Parted header;
  const bool whole = wire::read(message, header);
  const std::size_t bytes = header.envelope.prefix.length;
  if (!whole || message.size() - sizeof header < bytes || bytes == 0 || bytes > header.length) {
    return notes_.malformed(peer, "the first part of a message is not what it says");
  }
  if (peer.parts_in.length != 0 || header.length > kWindowMax) {
    return notes_.malformed(peer,
                            "a message in parts begins before the one before it has ended, or is too long");
  }
  begin(peer, header);
  take(peer, message.data() + sizeof header, bytes);
}

void Parts::on_rest(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Prefix header;
  if (!wire::read(message, header) || message.size() - sizeof header < header.length ||
      header.length > peer.parts_in.length - peer.parts_in.moved) {
    return notes_.malformed(peer, "a part belongs to no message");
  }
  take(peer, message.data() + sizeof header, header.length);
}

/// Finds the receive, or memory to put the message together in.
void Parts::begin(Peer& peer, const wire::Parted& header) noexcept {
  const wire::Envelope& envelope = header.envelope;
  PartsIn& in = peer.parts_in;
  in = {ContextId{envelope.context}, header.length, 0, nullptr, nullptr};
  Context* const context = matcher_.find(in.context);
  Source* const source = context != nullptr ? context->touched(Rank{envelope.source}) : nullptr;
  if (source != nullptr && source->peer == &peer)
    in.request = take_posted(*context, *source, Tag{envelope.tag});
  if (in.request == nullptr) {
    Arrival arrival = Arrival::of(envelope, header.length, 0, {}, nullptr);
    arrival.kind = wire::Kind::eager;
    in.message = &matcher_.make(peer, arrival);
    return;
  }
  Request& request = *in.request;
  request.peer = &peer;
  request.order = 0;
  request.status.source = Rank{envelope.source};
  request.status.tag = Tag{envelope.tag};
  request.phase = kMoving;
  if (header.length > request.buffer.bytes) {
    request.flags |= kTruncated;
    request.total = header.length;
  }
  eager_.consumed(peer, static_cast<std::size_t>(header.length));
  const std::uint64_t wanted = std::min(header.length, request.buffer.bytes);
  if (wanted == 0 || place(request.buffer, wanted)) return;
  in.request = nullptr;  // and what comes is dropped
  complete_receive(request, 0, Fault::no_memory);
}

void Parts::take(Peer& peer, const std::byte* payload, std::size_t bytes) noexcept {
  PartsIn& in = peer.parts_in;
  if (in.message != nullptr) {
    std::memcpy(in.message->payload() + in.moved, payload, bytes);
  } else if (in.request != nullptr && in.moved < in.request->buffer.bytes) {
    const Buffer& buffer = in.request->buffer;
    const auto fits = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.bytes - in.moved));
    if (buffer.layout != nullptr) {
      buffer.layout->unpack(buffer.base, buffer.count, in.moved, payload, fits);
    } else {
      copy_payload(static_cast<std::byte*>(buffer.base) + in.moved, payload, fits);
    }
  }
  in.moved += bytes;
  if (in.moved != in.length) return;
  const PartsIn ended = std::exchange(in, {});
  if (ended.message != nullptr) return arrived(peer, ended.context, *ended.message);
  if (ended.request == nullptr) return;
  complete_receive(*ended.request, std::min(ended.length, ended.request->buffer.bytes), Fault::none);
}

/// What had no receive when it began.
void Parts::arrived(Peer& peer, ContextId id, Message& message) noexcept {
  Context* const context = matcher_.find(id);
  const auto bytes = static_cast<std::size_t>(message.length);
  if (context == nullptr && !matcher_.closed(id)) return matcher_.add(id, nullptr, nullptr, message);
  Source* const source = context != nullptr ? matcher_.source_of(peer, *context, message.rank) : nullptr;
  if (source == nullptr) {
    matcher_.release(message);
    if (context == nullptr) eager_.consumed(peer, bytes);
    return;
  }
  Request* const request = take_posted(*context, *source, message.tag);
  if (request == nullptr) return matcher_.add(id, context, source, message);
  Eager::deliver(*request,
                 {peer, message.rank, message.tag, message.payload(), bytes, Placer::Payload::stored},
                 placer_);
  matcher_.release(message);
  eager_.consumed(peer, bytes);
}

void Parts::lose(Peer& peer) noexcept {
  peer.parts_sent = 0;
  const PartsIn lost = std::exchange(peer.parts_in, {});
  if (lost.message != nullptr) matcher_.release(*lost.message);
  if (lost.request != nullptr) complete_receive(*lost.request, 0, peer.fault);
}

}  // namespace starling::pml

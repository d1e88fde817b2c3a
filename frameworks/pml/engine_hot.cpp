// SPDX-License-Identifier: BSD-3-Clause
// What a short message passes through on either side: one matched message should cost 100 to 150 instructions
// per side. Everything rare is out of line in the other engine_*.cpp files. See docs/design/pml.md,
// "Hot path".
#include "core/copy.hpp"
#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

Post Engine::try_send(Context& context, Rank rank, Tag tag, const void* data, std::size_t bytes) noexcept {
  const Source* const source = context.touched(rank);
  if (source == nullptr) [[unlikely]]
    return Post::again;
  Peer& peer = *source->peer;
  const std::int64_t cost = cost_of(bytes);
  if (static_cast<std::int64_t>(bytes) > peer.fast_bytes || peer.credit < cost) [[unlikely]]
    return Post::again;
  const wire::Envelope header{{wire::Kind::eager, 0, 0, static_cast<std::uint32_t>(bytes)},
                              context.id().bits,
                              to_int(tag),
                              to_int(context.my_rank())};
  peer.credit -= cost;
  const Post post = peer.endpoint->send(wire::bytes_of(header), {static_cast<const std::byte*>(data), bytes});
  if (post == Post::again) [[unlikely]] {
    peer.credit += cost;
    return Post::again;
  }
  ++peer.eager_sent;
  peer.eager_bytes_sent += bytes;
  return Post::done;
}

void Engine::isend(Request& request) noexcept {
  request.receive = false;
  request.flags = 0;
  request.order = 0;
  if (request.buffer.layout == nullptr && request.mode != Mode::synchronous) [[likely]] {
    const Post post =
        try_send(*request.context, request.rank, request.tag, request.buffer.base, request.buffer.bytes);
    if (post == Post::done) [[likely]] {
      request.status.fault = Fault::none;
      request.status.cancelled = false;
      request.status.bytes = request.buffer.bytes;
      publish(request);
      return;
    }
  }
  isend_slowly(request);
}

void Engine::irecv(Request& request) noexcept {
  Context& context = *request.context;
  request.receive = true;
  request.flags = 0;
  request.moved = 0;
  if (!context.arrivals.empty()) {
    Message* const message = find_unexpected(context, request.rank, request.tag);
    if (message != nullptr) {
      remove_unexpected(context, *message);
      match_kept(request, *message);
      return;
    }
  }
  request.phase = kPosted;
  request.order = ++context.stamp;
  if (request.rank == kAnySource) {
    request.peer = nullptr;
    context.any_source.push_back(request);
    return;
  }
  Source* source = context.touched(request.rank);
  if (source == nullptr) [[unlikely]]
    source = &touch(context, request.rank);
  request.peer = source->peer;
  if (source->peer->state == PeerState::lost) [[unlikely]] {
    request.order = 0;
    request.status.source = request.rank;
    finish_receive(request, source->peer->fault);
    return;
  }
  source->posted.push_back(request);
}

inline void Engine::deliver(Request& request, Rank source, Tag tag, const std::byte* payload,
                            std::size_t bytes) noexcept {
  Buffer& buffer = request.buffer;
  std::size_t fits = bytes;
  Fault fault = Fault::none;
  if (bytes > buffer.bytes) [[unlikely]] {
    fits = static_cast<std::size_t>(buffer.bytes);
    fault = Fault::truncated;
    request.total = bytes;
  }
  if (buffer.layout != nullptr) [[unlikely]] {
    buffer.layout->unpack(buffer.base, buffer.count, 0, payload, fits);
  } else {
    copy_payload(buffer.base, payload, fits);
  }
  request.phase = kIdle;
  request.status = {source, tag, fault, false, fits};
  publish(request);
}

void Engine::on_message(btl::Origin& from, std::span<const std::byte> message) noexcept {
  wire::Envelope header;
  if (!wire::read(message, header) || header.prefix.kind != wire::Kind::eager) [[unlikely]] {
    on_other(from, message);
    return;
  }
  auto* peer = static_cast<Peer*>(from.cookie);
  if (peer == nullptr) [[unlikely]]
    peer = &adopt(from);
  const std::size_t bytes = header.prefix.length;
  if (message.size() - sizeof header < bytes) [[unlikely]] {
    malformed(*peer, "an eager message is shorter than it says");
    return;
  }
  const std::byte* const payload = message.data() + sizeof header;
  Context* const context = contexts_.find(ContextId{header.context});
  Source* const source = context != nullptr ? context->touched(Rank{header.source}) : nullptr;
  if (source == nullptr || source->peer != peer) [[unlikely]] {
    on_arrival(*peer, {header, bytes, 0, {}, payload});
    return;
  }
  Request* const request = take_posted(*context, *source, Tag{header.tag});
  if (request == nullptr) {
    keep(*peer, context, source, {header, bytes, 0, {}, payload});
    return;
  }
  deliver(*request, Rank{header.source}, Tag{header.tag}, payload, bytes);
  consumed(*peer, bytes);
}

void Engine::match_kept(Request& request, Message& message) noexcept {
  Peer& peer = *message.peer;
  const Rank rank = message.rank;
  const Tag tag = message.tag;
  const std::uint64_t length = message.length;
  const std::uint64_t id = message.sender_id;
  if (message.eager()) {
    const bool sync = message.kind == wire::Kind::eager_sync;
    deliver(request, rank, tag, message.payload(), static_cast<std::size_t>(length));
    release(message);
    consumed(peer, static_cast<std::size_t>(length));
    if (sync) answer(peer, wire::Kind::sync_ack, id);
    return;
  }
  const Arrival arrival{{{message.kind, message.flags, 0, 0}, 0, to_int(tag), to_int(rank)},
                        length,
                        id,
                        message.memory,
                        nullptr};
  release(message);
  begin_rendezvous(request, peer, arrival, true);
}

void Engine::match(Request& request, Peer& peer, const Arrival& arrival) noexcept {
  if (arrival.envelope.prefix.kind == wire::Kind::rts) {
    begin_rendezvous(request, peer, arrival, false);
    return;
  }
  deliver(request, Rank{arrival.envelope.source}, Tag{arrival.envelope.tag}, arrival.payload,
          static_cast<std::size_t>(arrival.length));
  consumed(peer, static_cast<std::size_t>(arrival.length));
  if (arrival.envelope.prefix.kind == wire::Kind::eager_sync) {
    answer(peer, wire::Kind::sync_ack, arrival.sender_id);
  }
}

int Engine::progress() noexcept {
  int events = 0;
  for (btl::Component* transport : peers_.polled()) events += transport->progress();
  if (!rare_.empty()) [[unlikely]]
    events += poll_rare();
  if (busy_ != nullptr || !gets_.empty() || !lost_.empty() || !holders_.empty()) [[unlikely]]
    events += push();
  return events;
}

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
// What a short message passes through on either side: one matched message should cost 100 to 150 instructions
// per side. Everything rare is out of line in other files. See docs/design/pml.md, "Hot path".
#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

Post Engine::try_send(Context& context, Rank rank, Tag tag, const void* data, std::size_t bytes) noexcept {
  return Eager::try_send<&peer::Peer::fast_bytes>(context, rank, tag, data, bytes);
}

Post Engine::try_isend(Context& context, Rank rank, Tag tag, const void* data, std::size_t bytes) noexcept {
  return Eager::try_send<&peer::Peer::fast_open_bytes>(context, rank, tag, data, bytes);
}

void Engine::isend(Request& request) noexcept {
  request.receive = false;
  request.flags = 0;
  request.order = 0;
  if (request.buffer.layout == nullptr && request.mode != Mode::synchronous) [[likely]] {
    const Post post = Eager::try_send<&peer::Peer::fast_open_bytes>(
        *request.context, request.rank, request.tag, request.buffer.base, request.buffer.bytes);
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

void Engine::isend_slowly(Request& request) noexcept {
  Source* const source = matcher_.touch(*request.context, request.rank);
  if (source == nullptr) return complete_send(request, Fault::no_memory);
  Peer& peer = *source->peer;
  if (request.buffer.layout == nullptr && peer.fast_bytes >= 0 && Eager::in_parts(peer, request) &&
      Eager::fits(peer, request) && Eager::covered(peer, request)) {
    return sends_.send_in_parts(request, peer);
  }
  // On this channel sends come from the program alone, so no message is in anybody's hands.
  if (early_.may_be_invited(request, *source->peer)) (void)all_.progress();
  sends_.send(request, *source->peer);
  if (early_.measures()) all_.set_restless(true);
}

void Engine::irecv(Request& request) noexcept {
  Context& context = *request.context;
  request.receive = true;
  request.flags = 0;
  if (!context.arrivals.empty()) {
    Message* const message = matcher_.take(context, request.rank, request.tag);
    if (message != nullptr) return match_kept(request, *message);
  }
  request.phase = kPosted;
  request.order = ++context.stamp;
  if (request.rank == kAnySource) {
    request.peer = nullptr;
    context.any_source.push_back(request);
    return;
  }
  Source* const source = context.touched(request.rank);
  if (source == nullptr || source->peer->receives_apart) [[unlikely]]
    return post_apart(request);
  request.peer = source->peer;
  source->posted.push_back(request);
}

void Engine::post_apart(Request& request) noexcept {
  Source* const touched = matcher_.touch(*request.context, request.rank);
  if (touched == nullptr) return complete_receive(request, 0, Fault::no_memory);
  Source& source = *touched;
  request.peer = source.peer;
  if (source.peer->state == PeerState::lost && !keeps_receives(*request.context, *source.peer)) {
    request.status.source = request.rank;
    return complete_receive(request, 0, source.peer->fault);
  }
  early_.invite(request, source);
  source.posted.push_back(request);
}

void Engine::on_message(btl::Origin& from, std::span<const std::byte> message) noexcept {
  wire::Envelope header;
  if (!wire::read(message, header) || header.prefix.kind != wire::Kind::eager) [[unlikely]] {
    on_other_kind(from, message);
    return;
  }
  auto* peer = static_cast<Peer*>(from.cookie);
  if (peer == nullptr) [[unlikely]]
    peer = &own(all_.adopt(from));
  const std::size_t bytes = header.prefix.length;
  if (message.size() - sizeof header < bytes) [[unlikely]] {
    notes_.malformed(*peer, "an eager message is shorter than it says");
    return;
  }
  const std::byte* const payload = message.data() + sizeof header;
  const ContextId id{header.context};
  Context* const context = matcher_.find(id);
  Source* const source = context != nullptr ? context->touched(Rank{header.source}) : nullptr;
  if (source == nullptr || source->peer != peer) [[unlikely]] {
    on_arrival(*peer, id, Arrival::of(header, bytes, 0, {}, payload));
    return;
  }
  Request* const request = take_posted(*context, *source, Tag{header.tag});
  if (request == nullptr) {
    matcher_.keep(*peer, id, context, source, Arrival::of(header, bytes, 0, {}, payload));
    return;
  }
  Eager::deliver(*request,
                 {*peer, Rank{header.source}, Tag{header.tag}, payload, bytes, Placer::Payload::arriving},
                 placer_);
  eager_.consumed(*peer, bytes);
}

void Engine::match_kept(Request& request, Message& message) noexcept {
  Peer& peer = *message.peer;
  const Arrival arrival = Arrival::of(message);
  if (message.kind == wire::Kind::eager) [[likely]] {
    Eager::deliver(request,
                   {peer, arrival.rank, arrival.tag, arrival.payload,
                    static_cast<std::size_t>(arrival.length), Placer::Payload::stored},
                   placer_);
    matcher_.release(message);
    eager_.consumed(peer, static_cast<std::size_t>(arrival.length));
    return;
  }
  if (!arrival.eager()) {
    matcher_.release(message);
    return match(request, peer, arrival, true);
  }
  match(request, peer, arrival, true);
  matcher_.release(message);
}

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
// Sends that could not simply be handed over: first contact, datatypes, synchronous mode, rendezvous, waiting
// lines. What is hard: a transport may deliver within send(), so a request is not touched after a send that
// can complete it.
#include <cstring>

#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

wire::Envelope Engine::envelope(const Request& request, wire::Kind kind) noexcept {
  return {
      {kind, 0, 0, 0}, request.context->id().bits, to_int(request.tag), to_int(request.context->my_rank())};
}

Post Engine::put(btl::Endpoint& endpoint, std::span<const std::byte> header, const Buffer& buffer,
                 std::uint64_t offset, std::size_t bytes) noexcept {
  if (buffer.layout == nullptr) {
    return endpoint.send(header,
                         {static_cast<const std::byte*>(buffer.base) + (bytes == 0 ? 0 : offset), bytes});
  }
  std::byte* const room = endpoint.reserve(header.size() + bytes);
  if (room == nullptr) return Post::again;
  std::memcpy(room, header.data(), header.size());
  buffer.layout->pack(buffer.base, buffer.count, offset, room + header.size(), bytes);
  endpoint.commit(header.size() + bytes);
  return Post::done;
}

void Engine::finish_send(Request& request, Fault fault, bool cancelled) noexcept {
  if (request.order != 0) {
    transfers_.remove(request.order);
    not_announced_any_more(request);
  }
  request.order = 0;
  if ((request.flags & kLong) != 0) --request.peer->long_sends;
  request.flags &= ~kLong;
  request.phase = kIdle;
  request.status.fault = fault;
  request.status.cancelled = cancelled;
  request.status.bytes = request.buffer.bytes;
  publish(request);
}

void Engine::enqueue(Peer& peer, Request& request) noexcept {
  peer.fifo.push_back(request);
  peer.update_fast_path();  // whatever is sent next must not overtake
  mark_busy(peer);
}

void Engine::isend_slowly(Request& request) noexcept {
  request.moved = 0;
  request.total = request.buffer.bytes;
  request.phase = kQueued;
  Source* source = request.context->touched(request.rank);
  if (source == nullptr) source = &touch(*request.context, request.rank);
  Peer& peer = *source->peer;
  request.peer = &peer;
  const Contact contact = peers_.connect(peer);
  if (contact == Contact::none) {
    finish_send(request, fault_of(peer));
    return;
  }
  if (contact == Contact::later || !peer.fifo.empty() || !start(request)) enqueue(peer, request);
}

/// False: the transport is full. A send that is held back counts as started: its line looks after it.
bool Engine::start(Request& request) noexcept {
  if (request.phase == kControl) return start_control(request);
  const Peer& peer = *request.peer;
  if (peer.holds_back() && (request.flags & kReleased) == 0 &&
      peer.held->find(request.context->id()) != nullptr) {
    hold_back(request);  // behind those of its context
    return true;
  }
  if (request.total > peer.eager_bytes) return start_rts(request, false);
  const std::int64_t cost = cost_of(static_cast<std::size_t>(request.total));
  if (peer.credit >= cost) return start_eager(request, cost);
  // The receiver may hold no more of our eager bytes: only the announcement goes, which also asks for credit.
  if ((request.flags & kStallCounted) == 0) {
    request.flags |= kStallCounted;
    ++request.peer->slow_sent.stalls;
  }
  return start_rts(request, true);
}

bool Engine::start_eager(Request& request, std::int64_t cost) noexcept {
  Peer& peer = *request.peer;
  const bool sync = request.mode == Mode::synchronous;
  wire::SyncEnvelope header{envelope(request, sync ? wire::Kind::eager_sync : wire::Kind::eager), 0};
  header.envelope.prefix.length = static_cast<std::uint32_t>(request.total);
  if (sync) {
    if (request.order == 0) request.order = transfers_.add(request);
    header.sender_id = request.order;
    request.phase = kAnnounced;
  }
  peer.credit -= cost;
  const std::uint64_t bytes = request.total;
  const std::size_t header_bytes = sync ? sizeof(wire::SyncEnvelope) : sizeof(wire::Envelope);
  const Post post = put(*peer.endpoint, wire::bytes_of(header).first(header_bytes), request.buffer, 0,
                        static_cast<std::size_t>(request.total));
  if (post == Post::again) {
    peer.credit += cost;
    request.phase = kQueued;
    return false;
  }
  ++peer.eager_sent;
  peer.eager_bytes_sent += bytes;
  if (!sync) finish_send(request, Fault::none);
  return true;
}

bool Engine::start_rts(Request& request, bool stalled) noexcept {
  Peer& peer = *request.peer;
  if (peer.announced >= announced_max_ && (request.flags & kReleased) == 0) {
    hold_back(request);
    return true;
  }
  if (request.order == 0) request.order = transfers_.add(request);
  wire::Rts header{envelope(request, wire::Kind::rts), request.total, request.order, 0, 0};
  if (request.buffer.layout == nullptr) {
    header.envelope.prefix.flags = wire::kGettable;
    header.address = reinterpret_cast<std::uintptr_t>(request.buffer.base);
    header.realm = peer.transport->limits().get_realm;
  }
  if (stalled) header.envelope.prefix.flags |= wire::kStalled;
  request.phase = kAnnounced;
  request.flags |= kCounted;
  ++peer.announced;
  if (!stalled) {
    request.flags |= kLong;
    ++peer.long_sends;
  }
  if (peer.endpoint->send(wire::bytes_of(header), {}) == Post::again) {
    request.phase = kQueued;
    --peer.announced;
    if (!stalled) --peer.long_sends;
    request.flags &= ~(kCounted | kLong);
    return false;
  }
  ++counters_.rendezvous_sent;
  return true;
}

bool Engine::start_control(Request& request) noexcept {
  auto& control = static_cast<ControlSend&>(request);
  const wire::Prefix header{wire::Kind::control, 0, 0, static_cast<std::uint32_t>(control.bytes.size())};
  if (control.peer->endpoint->send(wire::bytes_of(header), control.bytes) == Post::again) return false;
  delete &control;
  return true;
}

Result<void> Engine::send_control(ProcId to, std::span<const std::byte> message) {
  const std::string where = "pml: control message to rank " + std::to_string(to.rank);
  Peer& peer = peers_.peer(to);
  const Contact contact = peers_.connect(peer);
  const bool fits = contact != Contact::made ||
                    message.size() + sizeof(wire::Prefix) <= peer.transport->limits().message_max_bytes;
  if (message.size() > wire::kControlLongMax || (message.size() > wire::kControlMax && !fits)) {
    return fail(Errc::internal, where, std::to_string(message.size()) + " bytes are too many");
  }
  if (contact == Contact::none) {
    if (peer.state == PeerState::lost) return fail(Errc::peer_lost, where, "the process is gone");
    return fail(Errc::unsupported, where, "no transport reaches it");
  }
  auto control = std::make_unique<ControlSend>();
  control->peer = &peer;
  control->phase = kControl;
  control->bytes.assign(message.begin(), message.end());
  ControlSend& request = *control.release();  // start_control() or lose() deletes it
  if (contact == Contact::later || !peer.fifo.empty() || !start_control(request)) enqueue(peer, request);
  return {};
}

void Engine::cancel(Request& request) noexcept {
  if (request.complete.load(std::memory_order_relaxed)) return;
  if (request.receive) {
    cancel_receive(request);
  } else {
    cancel_send(request);
  }
}

void Engine::cancel_send(Request& request) noexcept {
  Peer& peer = *request.peer;
  if (request.phase == kQueued) {
    peer.fifo.remove(request);
    peer.update_fast_path();
    finish_send(request, Fault::none, true);
    return;
  }
  if (request.phase == kHeld) {
    peer.held->remove(request.context->id(), request);
    --held_now_;
    peer.update_fast_path();
    finish_send(request, Fault::none, true);
    return;
  }
  // Announced: only the receiver knows whether it has matched (MPI 5.0, 3.8.4: either the send or the cancel
  // succeeds).
  if (request.phase != kAnnounced || (request.flags & kCancelAsked) != 0) return;
  request.flags |= kCancelAsked;
  const wire::SyncEnvelope header{envelope(request, wire::Kind::cancel), request.order};
  answer(peer, wire::bytes_of(header));
}

}  // namespace starling::pml

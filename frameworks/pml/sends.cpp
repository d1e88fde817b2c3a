// SPDX-License-Identifier: BSD-3-Clause
// What is hard: nothing may overtake within a context, whatever it waits for; and a receiver may want the
// last of what is held back first. Whoever holds back has told so, and whoever has been told asks as soon as
// it wants more (holders.hpp).
#include "frameworks/pml/sends.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace starling::pml {

using namespace detail;

/// A message of some port that waits in a FIFO.
struct Sends::PortMessage : Request {
  peer::wire::Prefix prefix;
  std::vector<std::byte> bytes;
};

Sends::~Sends() {
  peers_.each([](Peer& peer) {
    while (Request* request = peer.fifo.pop_front()) {
      if (request->phase == kOfPort) delete static_cast<PortMessage*>(request);
    }
  });
}

void Sends::enqueue(Peer& peer, Request& request) noexcept {
  peer.fifo.push_back(request);
  peer.update_fast_path();  // whatever is sent next must not overtake
  outbox_.mark_busy(peer);
}

void Sends::send(Request& request, Peer& peer) noexcept {
  request.phase = kQueued;
  request.peer = &peer;
  const Contact contact = peers_.connect(peer);
  if (contact == Contact::none) return complete_send(request, fault_of(peer));
  if (contact == Contact::later || !peer.fifo.empty() || !start(request)) enqueue(peer, request);
}

void Sends::send_in_parts(Request& request, Peer& peer) noexcept {
  request.phase = kQueued;
  request.peer = &peer;
  if (Parts::send(request) == Post::again) enqueue(peer, request);
}

/// False: the transport is full. A send that is held back counts as started: its line looks after it.
bool Sends::start(Request& request) noexcept {
  if (request.phase == kOfPort) return start_port_message(request);
  if (request.phase == kMoving) return Parts::send(request) != Post::again;
  Peer& peer = *request.peer;
  const bool released = (request.flags & kReleased) != 0;
  if (peer.holds_back() && !released && peer.held->find(wire_context_of(request)) != nullptr) {
    hold_back(request);  // behind those of its context
    return true;
  }
  const bool fits = Eager::fits(peer, request);
  if (fits && Eager::covered(peer, request)) {
    return (Eager::in_parts(peer, request) ? Parts::send(request) : eager_.start(request)) != Post::again;
  }
  if (!fits) {
    const Grants::Pushed pushed = grants_.push(request);
    if (pushed != Grants::Pushed::no) return pushed == Grants::Pushed::done;
    const Early::Pushed early = early_.push(request);
    if (early != Early::Pushed::no) return early == Early::Pushed::done;
  }
  // The receiver may hold no more of our eager bytes: only the announcement goes, which also asks for credit.
  if (fits && (request.flags & kStallCounted) == 0) {
    request.flags |= kStallCounted;
    ++peer.slow_sent.stalls;
  }
  if (peer.announced >= announced_max_ && !released) {
    hold_back(request);
    return true;
  }
  const Post post = rendezvous_.announce(request, fits);
  if (post == Post::posted) early_.announced(request);
  return post != Post::again;
}

bool Sends::start_port_message(Request& request) noexcept {
  auto& message = static_cast<PortMessage&>(request);
  if (message.peer->endpoint->send(wire::bytes_of(message.prefix), message.bytes) == Post::again)
    return false;
  delete &message;
  return true;
}

void Sends::send(Peer& peer, std::uint8_t kind, std::span<const std::byte> payload) {
  auto made = std::make_unique<PortMessage>();
  made->peer = &peer;
  made->phase = kOfPort;
  made->prefix = {peer::wire::Kind{kind}, 0, 0, static_cast<std::uint32_t>(payload.size())};
  made->bytes.assign(payload.begin(), payload.end());
  PortMessage& message = *made.release();  // start_port_message() or drop() deletes it
  const bool may_go = peer.state == PeerState::connected && peer.fifo.empty();
  if (!may_go || !start_port_message(message)) enqueue(peer, message);
}

void Sends::cancel(Request& request) noexcept {
  Peer& peer = *request.peer;
  if (request.phase == kQueued) {
    peer.fifo.remove(request);
    peer.update_fast_path();
    return complete_send(request, Fault::none, true);
  }
  if (request.phase == kHeld) {
    peer.held->remove(wire_context_of(request), request);
    --held_now_;
    peer.update_fast_path();
    return complete_send(request, Fault::none, true);
  }
  // Announced: only the receiver knows whether it has matched (MPI 5.0, 3.8.4: either the send or the cancel
  // succeeds).
  if (request.phase != kAnnounced || (request.flags & kCancelAsked) != 0) return;
  request.flags |= kCancelAsked;
  const wire::SyncEnvelope header{envelope_of(request, wire::Kind::cancel), request.order};
  outbox_.answer(peer, wire::bytes_of(header));
}

int Sends::push(Peer& peer) noexcept {
  const int events = push_fifo(peer);
  return peer.holds_back() ? events + push_held(peer) : events;
}

int Sends::push_fifo(Peer& peer) noexcept {
  int events = 0;
  // Taken off first: start() may complete a request, and then it is the caller's again.
  while (Request* request = peer.fifo.pop_front()) {
    if (!start(*request)) {
      peer.fifo.push_front(*request);
      break;
    }
    ++events;
  }
  peer.update_fast_path();
  return events;
}

void Sends::hold_back(Request& request) noexcept {
  Peer& peer = *request.peer;
  if (peer.held == nullptr) peer.held.reset(new (std::nothrow) HeldBack);
  if (peer.held == nullptr || !peer.held->add(wire_context_of(request), request)) {
    return complete_send(request, Fault::no_memory);
  }
  request.phase = kHeld;
  ++held_now_;
  ++held_ever_;
  peer.update_fast_path();
  outbox_.mark_busy(peer);  // the receiver is told once everything older has left
}

bool Sends::may_go(const Peer& peer, const HeldBack::Line& line) const noexcept {
  const Request& first = *line.sends.front();
  return peer.announced < announced_max_ || line.allowance != 0 ||
         (Eager::fits(peer, first) && Eager::covered(peer, first));
}

/// Only while nothing else waits for the transport: so at most one of a line is in the FIFO, in front of
/// whatever else of its context is there.
int Sends::push_held(Peer& peer) noexcept {
  int events = 0;
  HeldBack& held = *peer.held;
  for (std::size_t at = 0; at < held.size() && peer.fifo.empty(); ++at) {
    HeldBack::Line& line = held.at(at);
    while (!line.sends.empty() && may_go(peer, line)) {
      Request& request = *line.sends.front();
      const bool eager = Eager::fits(peer, request) && Eager::covered(peer, request);
      if (peer.announced >= announced_max_ && !eager) --line.allowance;
      line.sends.remove(request);
      --held_now_;
      request.phase = kQueued;
      request.flags |= kReleased;
      if (!start(request)) {
        enqueue(peer, request);
        break;
      }
      ++events;
    }
    if (line.sends.empty() || line.told || !peer.fifo.empty()) continue;
    line.told = true;
    outbox_.answer(peer, wire::bytes_of(envelope_of(*line.sends.front(), wire::Kind::held)));
  }
  held.erase_empty();
  peer.update_fast_path();
  return events;
}

void Sends::on_go_on(Peer& peer, const wire::Envelope& header) noexcept {
  HeldBack::Line* const line = peer.held != nullptr ? peer.held->find(ContextId{header.context}) : nullptr;
  if (line == nullptr) return;  // all has been announced meanwhile
  line->told = false;
  if (peer.announced >= announced_max_) line->allowance = std::max(announced_max_ / 4, 1u);
  outbox_.mark_busy(peer);
}

void Sends::cancel_held(const Context& context, Rank rank) noexcept {
  if (held_now_ == 0) return;
  peers_.each([&](Peer& peer) {
    while (HeldBack::Line* const line = peer.held != nullptr ? peer.held->find(context) : nullptr) {
      Request& request = *line->sends.front();
      request.status.source = rank;
      cancel(request);
    }
  });
}

void Sends::drop(Peer& peer, Fault fault) noexcept {
  while (Request* request = peer.fifo.pop_front()) {
    if (request->phase == kOfPort) {
      delete static_cast<PortMessage*>(request);
    } else {
      complete_send(*request, fault);
    }
  }
  if (peer.held == nullptr) return;
  peer.held->each([&](HeldBack::Line& line) {
    while (Request* request = line.sends.pop_front()) {
      --held_now_;
      complete_send(*request, fault);
    }
  });
  peer.held->erase_empty();
}

}  // namespace starling::pml

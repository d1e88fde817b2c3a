// SPDX-License-Identifier: BSD-3-Clause
// Answers that found their transport full wait in blocks that are used again and again.
#include "frameworks/peer/outbox.hpp"

#include <cstring>
#include <new>

namespace starling::peer {

Outbox::~Outbox() {
  clear();
  while (Answered* spare = spare_.pop_front()) delete spare;
}

void Outbox::clear() noexcept {
  peers_.each([this](Peer& peer) { drop(peer); });
  busy_ = {};
  lost_ = {};
}

void Outbox::answer(Peer& peer, std::span<const std::byte> message) noexcept {
  expects(message.size() <= wire::kHeaderMax, "an answer above kHeaderMax");
  const Contact contact = peers_.connect(peer);
  if (contact == Contact::none) return;
  if (contact == Contact::made && peer.answers.empty() && peer.endpoint->send(message, {}) != Post::again)
    return;
  Answered* waiting = spare_.pop_front();
  if (waiting == nullptr) waiting = new (std::nothrow) Answered;
  if (waiting == nullptr) {
    notes_.add(peer.proc, " is given up: no memory for an answer to it");
    return lost(peer, Fault::no_memory);
  }
  waiting->bytes = static_cast<std::uint32_t>(message.size());
  std::memcpy(waiting->message, message.data(), message.size());
  peer.answers.push_back(*waiting);
  mark_busy(peer);
}

int Outbox::push(Peer& peer) noexcept {
  int events = 0;
  while (Answered* next = peer.answers.front()) {
    if (peer.endpoint->send({next->message, next->bytes}, {}) == Post::again) break;
    peer.answers.remove(*next);
    spare_.push_front(*next);
    ++events;
  }
  return events;
}

void Outbox::drop(Peer& peer) noexcept {
  while (Answered* next = peer.answers.pop_front()) spare_.push_front(*next);
}

void Outbox::lost(Peer& peer, Fault fault) noexcept {
  if (peer.state == State::lost) return;
  peer.state = State::lost;
  peer.fault = fault;
  peer.fast_bytes = peer.fast_open_bytes = -1;
  lost_.push(peer);
}

}  // namespace starling::peer

// SPDX-License-Identifier: BSD-3-Clause
// What is hard: while a get is in flight the transport writes into the user's buffer, even if the peer is
// lost.
#include "frameworks/pml/get.hpp"

#include <algorithm>
#include <array>

#include "frameworks/pml/rendezvous.hpp"

namespace starling::pml {

namespace {

/// Copied before a network that is active is looked at: some 15 to 40 us, in which a link of 10 Gbit/s moves
/// less than what its sockets hold.
constexpr std::uint64_t kBytesBesideNetwork = 256 * 1024;

/// A chunk of a receive. Its address is the transport's until the chunk has ended.
struct Chunk : btl::Completion {
  Chunk() noexcept { done = &Chunk::on_done; }
  static void on_done(btl::Completion* self, bool went_well) noexcept {
    auto* const chunk = static_cast<Chunk*>(self);
    chunk->ended = true;
    chunk->ok = went_well;
  }
  std::size_t bytes = 0;
  bool in_flight = false;
  bool ended = false;
  bool ok = false;
};

}  // namespace

const Protocol::Facts& Get::facts() const noexcept {
  static constexpr std::array kKinds{wire::Kind::got};
  static constexpr Facts kFacts{
      .name = "get", .kinds = kKinds, .contiguous = true, .steps = true, .pushes = false, .offers = true};
  return kFacts;
}

void Get::offer(const Transfer& send, wire::Offer& offer) noexcept {
  if (!send.contiguous) return;
  offer.address = reinterpret_cast<std::uintptr_t>(send.request->buffer.base);
  offer.access_domain = send.peer->transport->limits().get_access_domain;
}

/// The sender may have announced it over another transport than the one that leads back.
bool Get::possible(const Transfer& receive) noexcept {
  const Peer& peer = *receive.peer;
  const btl::Limits& limits = peer.transport->limits();
  return limits.can.has(btl::Capability::get) && receive.offer.address != 0 &&
         receive.offer.access_domain == limits.get_access_domain &&
         peer.endpoint->can_get({receive.offer.address, receive.remote});
}

void Get::accept(Transfer& receive) noexcept {
  receive.make_state<Chunk>();
  rendezvous_->queue(receive);
}

void Get::on_message(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Answer header;
  if (!wire::read(message, header))
    return rendezvous_->malformed(peer, "an answer is shorter than its header");
  Transfer* const send = rendezvous_->take_announced(peer, header.sender_id, number_);
  if (send == nullptr) return;
  rendezvous_->count(*send, send->request->buffer.bytes);
  rendezvous_->finish(*send, Fault::none);
}

int Get::push(Peer& peer) noexcept {
  int events = 0;
  bool turn = true;  // of what is not in flight, the oldest
  Transfer* next = rendezvous_->with(peer, number_).queue.front();
  while (next != nullptr) {
    Transfer& receive = *next;
    next = TransferChain::after(receive);
    if (!turn && !receive.state<Chunk>().in_flight) continue;
    if (step(receive, events) && !receive.state<Chunk>().in_flight) turn = false;
  }
  return events;
}

void Get::begin_chunk(Transfer& receive) noexcept {
  Peer& peer = *receive.peer;
  auto& chunk = receive.state<Chunk>();
  const std::size_t best = peer.transport->limits().get_bytes;
  std::uint64_t most = best != 0 ? best : chunk_bytes_;
  // A transport without a best size copies in the call.
  if (best == 0 && rendezvous_->network_active()) most = std::min(most, kBytesBesideNetwork);
  chunk.bytes = static_cast<std::size_t>(std::min<std::uint64_t>(most, receive.total - receive.moved));
  chunk.in_flight = true;
  chunk.ended = false;
  const btl::RemoteBuffer from{receive.offer.address + receive.moved, receive.remote};
  const Post post = peer.endpoint->get(
      from, {static_cast<std::byte*>(receive.request->buffer.base) + receive.moved, chunk.bytes}, &chunk);
  if (post == Post::again) chunk.in_flight = false;
  if (post == Post::done) chunk.ended = chunk.ok = true;
}

/// One chunk further. False: it has ended, or another protocol has taken it.
bool Get::step(Transfer& receive, int& events) noexcept {
  Peer& peer = *receive.peer;
  auto& chunk = receive.state<Chunk>();
  if (!chunk.in_flight && peer.state == PeerState::connected) begin_chunk(receive);
  if (chunk.in_flight && !chunk.ended) return true;
  if (peer.state != PeerState::connected) {
    rendezvous_->finish(receive, peer.fault);
    return false;
  }
  if (!chunk.in_flight) return true;
  chunk.in_flight = false;
  ++events;
  if (!chunk.ok) {
    rendezvous_->give_up(receive, "a get failed, large messages go through the ring from now on");
    return false;
  }
  receive.moved += chunk.bytes;
  if (receive.moved < receive.total) return true;
  const wire::Answer got{{wire::Kind::got, 0, 0, 0}, receive.remote};
  rendezvous_->answer(peer, wire::bytes_of(got));
  rendezvous_->finish(receive, Fault::none);
  return false;
}

bool Get::drop(Transfer& transfer) noexcept {
  return !transfer.receive || !transfer.state<Chunk>().in_flight;
}

}  // namespace starling::pml

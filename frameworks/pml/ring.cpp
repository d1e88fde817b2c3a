// SPDX-License-Identifier: BSD-3-Clause
// CTS, then data. `moved` counts bytes on both sides; over several paths they come in any order.
#include "frameworks/pml/ring.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "frameworks/pml/put.hpp"
#include "frameworks/pml/rendezvous.hpp"

namespace starling::pml {

namespace {

/// Fragments of a send that the transport reads out of the user's memory.
struct Flight : btl::Completion {
  Flight(Rendezvous& of_engine, Transfer& of_send) noexcept : rendezvous(of_engine), send(of_send) {
    done = [](btl::Completion* self, bool) noexcept { static_cast<Flight*>(self)->landed(); };
  }
  /// What failed is of a lost peer: its loss ends the send, unless it was waiting for this.
  void landed() noexcept {
    if (--in_the_air != 0) return;
    const Peer& peer = *send.peer;
    if (dropped) return rendezvous.finish(send, peer.fault);
    if (send.moved == send.total && peer.state == PeerState::connected) rendezvous.finish(send, Fault::none);
  }
  Rendezvous& rendezvous;
  Transfer& send;
  std::uint32_t in_the_air = 0;
  bool dropped = false;
};

/// The next piece of what is left. A rest that would go eagerly as a message of its own is one piece, though
/// it may be longer than a fragment: cut in two, the second would have next to nothing in it.
std::size_t next_piece(const Peer& peer, std::uint64_t left) noexcept {
  if (left <= peer.whole_bytes) return static_cast<std::size_t>(left);
  return static_cast<std::size_t>(std::min<std::uint64_t>(peer.fragment_bytes, left));
}

}  // namespace

const Protocol::Facts& Ring::facts() const noexcept {
  static constexpr std::array kKinds{wire::Kind::cts, wire::Kind::data, wire::Kind::data_at};
  static constexpr Facts kFacts{
      .name = "ring", .kinds = kKinds, .contiguous = false, .steps = false, .pushes = true};
  return kFacts;
}

void Ring::accept(Transfer& receive) noexcept {
  const wire::Cts header{
      {wire::Kind::cts, 0, 0, 0}, receive.remote, receive.id, receive.moved, receive.total - receive.moved};
  rendezvous_->answer(*receive.peer, wire::bytes_of(header));
}

void Ring::on_message(Peer& peer, std::span<const std::byte> message) noexcept {
  switch (static_cast<wire::Kind>(message.front())) {
    case wire::Kind::cts: return on_cts(peer, message);
    case wire::Kind::data: return on_data(peer, message, false);
    default: return on_data(peer, message, true);
  }
}

void Ring::on_cts(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Cts header;
  if (!wire::read(message, header)) return rendezvous_->malformed(peer, "a CTS is shorter than its header");
  const Transfer* const known = rendezvous_->find(peer, header.sender_id);
  if (known == nullptr || known->receive) return;
  const std::uint64_t length = known->request->buffer.bytes;
  if (header.offset > length || header.bytes > length - header.offset || header.bytes == 0) {
    return rendezvous_->malformed(peer, "a CTS asks for bytes that the message does not have");
  }
  Transfer* const send = rendezvous_->take_announced(peer, header.sender_id, number_);
  if (send == nullptr) return;
  send->make_state<Flight>(*rendezvous_, *send);
  rendezvous_->count(*send, header.bytes);
  send->remote = header.receiver_id;
  send->moved = header.offset;
  send->total = header.offset + header.bytes;
  rendezvous_->queue(*send);
}

void Ring::on_data(Peer& peer, std::span<const std::byte> message, bool at_offset) noexcept {
  wire::DataAt header;
  const std::size_t header_bytes = at_offset ? sizeof(wire::DataAt) : sizeof(wire::Data);
  const bool whole = at_offset ? wire::read(message, header) : wire::read(message, header.data);
  const std::size_t bytes = header.data.prefix.length;
  if (!whole || message.size() - header_bytes < bytes) {
    return rendezvous_->malformed(peer, "a data fragment is shorter than it says");
  }
  Transfer* const receive = rendezvous_->receiving(peer, header.data.receiver_id, number_);
  if (receive == nullptr) return;
  const std::uint64_t offset = at_offset ? header.offset : receive->moved;
  if (bytes > receive->total - receive->moved || offset > receive->total || bytes > receive->total - offset) {
    return rendezvous_->malformed(peer, "a data fragment goes beyond its transfer");
  }
  const Buffer& buffer = receive->request->buffer;
  const std::byte* const payload = message.data() + header_bytes;
  if (buffer.layout != nullptr) {
    buffer.layout->unpack(buffer.base, buffer.count, offset, payload, bytes);
  } else if (bytes != 0) {
    std::memcpy(static_cast<std::byte*>(buffer.base) + offset, payload, bytes);
  }
  receive->moved += bytes;
  if (receive->moved == receive->total) rendezvous_->finish(*receive, Fault::none);
}

Post Ring::put_fragment(Peer& peer, Transfer& send, std::size_t bytes) noexcept {
  wire::DataAt header{{{wire::Kind::data, 0, 0, static_cast<std::uint32_t>(bytes)}, send.remote}, send.moved};
  std::size_t header_bytes = sizeof(wire::Data);
  if (peer.paths != nullptr) {
    header.data.prefix.kind = wire::Kind::data_at;
    header_bytes = sizeof header;
  }
  if (peer.sends_from(*send.request, bytes)) {
    auto& flight = send.state<Flight>();
    const auto* const from = static_cast<const std::byte*>(send.request->buffer.base) + send.moved;
    const Post post =
        peer.endpoint->send_from(wire::bytes_of(header).first(header_bytes), {from, bytes}, &flight);
    if (post == Post::posted) ++flight.in_the_air;
    return post;
  }
  return put(*peer.endpoint, wire::bytes_of(header).first(header_bytes), send.request->buffer, send.moved,
             bytes);
}

int Ring::push(Peer& peer) noexcept {
  TransferChain& queue = rendezvous_->with(peer, number_).queue;
  int events = 0;
  for (std::uint32_t sent = 0; sent < fragments_ && !queue.empty(); ++sent) {
    Transfer& send = *queue.front();
    const std::size_t bytes = next_piece(peer, send.total - send.moved);
    if (put_fragment(peer, send, bytes) == Post::again) break;
    ++events;
    send.moved += bytes;
    if (send.moved != send.total) continue;
    if (send.state<Flight>().in_the_air == 0) {
      rendezvous_->finish(send, Fault::none);
    } else {
      rendezvous_->unqueue(send);
      send.stage = Transfer::Stage::settling;
    }
  }
  return events;
}

bool Ring::drop(Transfer& transfer) noexcept {
  if (transfer.receive) return true;
  auto& flight = transfer.state<Flight>();
  flight.dropped = flight.in_the_air != 0;
  if (flight.dropped) rendezvous_->unqueue(transfer);
  return !flight.dropped;
}

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
// What is hard: while a copy is open others write into the user's buffer, also when the peer is lost; so a
// receive ends only when the copy has. Design: docs/design/dynamic.md.
#include "plugins/pml/dynamic/claim.hpp"

#include <algorithm>
#include <array>

#include "frameworks/pml/rendezvous.hpp"

namespace starling::pml {

using shm::SharedCopies;
using Step = SharedCopies::Step;

namespace {

/// Copied in one pass before other messages are looked at: less while a network has something to do.
constexpr std::uint64_t kPassBytes = 1024 * 1024, kPassBytesBesideNetwork = 128 * 1024;

}  // namespace

/// On both sides.
struct ClaimProtocol::Copy {
  SharedCopies* copies;
  SharedCopies::Id id;
  std::uint64_t message;      // the sender's id
  std::uint32_t chunks_left;  // that this side may take
  bool closed = false;
};

const Protocol::Facts& ClaimProtocol::facts() const noexcept {
  static constexpr std::array kKinds{kInvite, kAllThere, kDecline};
  static constexpr Facts kFacts{
      .name = "claim", .kinds = kKinds, .contiguous = true, .steps = true, .pushes = false};
  return kFacts;
}

bool ClaimProtocol::possible(const Transfer& receive) noexcept {
  const Peer& peer = *receive.peer;
  if (receive.offer.address == 0 || peer.transport->limits().reach != btl::Reach::node) return false;
  const btl::CopyWay way = peer.endpoint->copies();
  return way.copies != nullptr &&
         way.copies->possible(way.peer, receive.offer.address, receive.request->buffer.base);
}

bool ClaimProtocol::ready(const Transfer& receive) const noexcept {
  const btl::CopyWay way = receive.peer->endpoint->copies();
  return way.copies->ready(way.peer, receive.offer.address, receive.total);
}

void ClaimProtocol::accept(Transfer& receive) noexcept {
  Peer& peer = *receive.peer;
  const btl::CopyWay way = peer.endpoint->copies();
  const CopyShape shape = plan_.shape(peer, receive.total);
  const auto id = way.copies->open({receive.remote, way.peer, receive.offer.address,
                                    static_cast<std::byte*>(receive.request->buffer.base), receive.total,
                                    shape.chunk_bytes, shape.steal});
  // ready() was asked just now: only a chunk size that nobody can name is left.
  if (!id) return rendezvous_->give_up(receive, "a message is too long to be copied by several processes");
  receive.make_state<Copy>(way.copies, *id, receive.remote, shape.receiver_chunks);
  if (shape.invites) {
    const Invite invite{{kInvite, 0, 0, 0}, receive.remote, receive.id, id->slot, id->generation};
    rendezvous_->answer(peer, wire::bytes_of(invite));
  }
  rendezvous_->queue(receive);
}

void ClaimProtocol::on_message(Peer& peer, std::span<const std::byte> message) noexcept {
  const auto kind = static_cast<wire::Kind>(message.front());
  if (kind == kInvite) return on_invite(peer, message);
  wire::Answer header;
  if (!wire::read(message, header))
    return rendezvous_->malformed(peer, "an answer is shorter than its header");
  if (kind == kDecline) {
    if (Transfer* const receive = rendezvous_->receiving(peer, header.sender_id, number_))
      receive->state<Copy>().chunks_left = ~0u;
    return;
  }
  Transfer* send = rendezvous_->find(peer, header.sender_id);
  if (send == nullptr || send->receive) return;
  // Without an invitation nothing has been heard of it before.
  if (send->stage == Transfer::Stage::announced)
    send = rendezvous_->take_announced(peer, header.sender_id, number_);
  if (send == nullptr || send->number != number_) return;
  rendezvous_->count(*send, send->request->buffer.bytes);
  rendezvous_->finish(*send, Fault::none);
}

void ClaimProtocol::on_invite(Peer& peer, std::span<const std::byte> message) noexcept {
  Invite invite;
  if (!wire::read(message, invite))
    return rendezvous_->malformed(peer, "an invitation is shorter than its header");
  Transfer* const send = rendezvous_->take_announced(peer, invite.sender_id, number_);
  if (send == nullptr) return;
  send->remote = invite.receiver_id;
  const btl::CopyWay way = peer.endpoint->copies();
  if (way.copies == nullptr) return;  // the receiver does it alone
  send->make_state<Copy>(way.copies, SharedCopies::Id{invite.slot, invite.generation, 0}, send->id, ~0u);
  rendezvous_->queue(*send);
}

int ClaimProtocol::push(Peer& peer) noexcept {
  int events = 0;
  Transfer* next = rendezvous_->with(peer, number_).queue.front();
  while (next != nullptr) {
    Transfer& transfer = *next;
    next = TransferChain::after(transfer);
    events += transfer.receive ? receive_some(transfer) : send_some(transfer);
  }
  return events;
}

int ClaimProtocol::receive_some(Transfer& receive) noexcept {
  auto& copy = receive.state<Copy>();
  int events = 0;
  const std::uint64_t most = rendezvous_->network_active() ? kPassBytesBesideNetwork : kPassBytes;
  for (std::uint64_t bytes = 0; bytes < most && copy.chunks_left != 0 && !copy.closed;
       bytes += copy.id.chunk_bytes) {
    if (copy.copies->step(copy.id, copy.message) != Step::copied) break;
    --copy.chunks_left;
    ++events;
  }
  if (!copy.copies->ended(copy.id)) return events;
  end(receive, copy.closed ? receive.peer->fault : Fault::none);
  return events + 1;
}

void ClaimProtocol::end(Transfer& receive, Fault fault) noexcept {
  Peer& peer = *receive.peer;
  const auto copy = receive.state<Copy>();
  const std::uint64_t who = copy.copies->release(copy.id);
  if (fault == Fault::none) {
    plan_.took_part(peer, receive.total, who);
    receive.moved = receive.total;
    const wire::Answer all{{kAllThere, 0, 0, 0}, receive.remote};
    rendezvous_->answer(peer, wire::bytes_of(all));
  }
  rendezvous_->finish(receive, fault);
}

int ClaimProtocol::send_some(Transfer& send) noexcept {
  auto& copy = send.state<Copy>();
  switch (copy.copies->step(copy.id, copy.message)) {
    case Step::copied: return 1;
    case Step::later: return 0;
    case Step::none_left: rendezvous_->unqueue(send); return 0;
    case Step::refused: break;
  }
  rendezvous_->unqueue(send);
  const wire::Answer decline{{kDecline, 0, 0, 0}, send.remote};
  rendezvous_->answer(*send.peer, wire::bytes_of(decline));
  return 1;
}

bool ClaimProtocol::drop(Transfer& transfer) noexcept {
  if (!transfer.receive) return true;  // what it copies is copied within a call
  auto& copy = transfer.state<Copy>();
  if (!copy.closed) {
    copy.closed = true;
    copy.copies->close(copy.id);
  }
  if (!copy.copies->ended(copy.id)) return false;
  (void)copy.copies->release(copy.id);
  return true;
}

}  // namespace starling::pml

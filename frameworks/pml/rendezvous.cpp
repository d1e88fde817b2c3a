// SPDX-License-Identifier: BSD-3-Clause
// What is hard: whatever happens to an announced message, its sender gets exactly one answer; and a loss may
// be reported from within a send of ours, so that it only closes the fast path and lose() comes later, when
// no transfer is in anybody's hands.
#include "frameworks/pml/rendezvous.hpp"

#include <algorithm>
#include <string>

#include "core/clock.hpp"
#include "frameworks/pml/request_state.hpp"

namespace starling::pml {

using namespace detail;
using Stage = Transfer::Stage;

namespace {

/// The engine's own kinds, and those of other ports; what is left below kOwnKinds belongs to the protocols of
/// this folder.
bool engines_own(wire::Kind kind) noexcept {
  switch (kind) {
    case wire::Kind::eager:
    case wire::Kind::eager_sync:
    case wire::Kind::rts:
    case wire::Kind::fin:
    case wire::Kind::sync_ack:
    case wire::Kind::credit:
    case wire::Kind::cancel:
    case wire::Kind::cancel_answer:
    case wire::Kind::held:
    case wire::Kind::go_on:
    case wire::Kind::grant:
    case wire::Kind::returned:
    case wire::Kind::pushed:
    case wire::Kind::invite:
    case wire::Kind::early:
    case wire::Kind::parted:
    case wire::Kind::part: return true;
    default: return peer::wire::taken(static_cast<peer::wire::Kind>(kind));
  }
}

}  // namespace

Result<void> Rendezvous::check(const Protocols& protocols) {
  const auto refused = [](const std::string& what) { return fail(Errc::internal, "pml: protocols", what); };
  if (protocols.empty() || protocols.size() > kProtocolsMax) {
    return refused("there are " + std::to_string(protocols.size()) + ", expected 1 to " +
                   std::to_string(kProtocolsMax));
  }
  const Protocol::Facts& first = protocols.front()->facts();
  if (first.contiguous) {
    return refused("the first, \"" + std::string(first.name) +
                   "\", must take every receive, also what is not contiguous");
  }
  std::array<const Protocol*, 256> owners{};
  const Protocol* offering = nullptr;
  for (const auto& protocol : protocols) {
    if (protocol->facts().offers && offering != nullptr) {
      return refused("\"" + std::string(protocol->facts().name) + "\" offers, and \"" +
                     std::string(offering->facts().name) + "\" does: an announcement has room for one offer");
    }
    if (protocol->facts().offers) offering = protocol.get();
    for (const wire::Kind kind : protocol->facts().kinds) {
      const std::string what = "\"" + std::string(protocol->facts().name) + "\" wants messages of kind " +
                               std::to_string(static_cast<unsigned>(kind));
      const Protocol*& owner = owners[static_cast<std::uint8_t>(kind)];
      if (engines_own(kind)) return refused(what + ", which are the engine's; take one from 128 on");
      if (owner != nullptr) return refused(what + ", which \"" + std::string(owner->facts().name) + "\" has");
      owner = protocol.get();
    }
  }
  return {};
}

Rendezvous::Rendezvous(PeerTable& peers, Outbox& outbox, TransferTable& transfers, Notes& notes,
                       std::unique_ptr<Chooser> chooser, Protocols protocols)
    : peers_(peers),
      outbox_(outbox),
      transfers_(transfers),
      notes_(notes),
      chooser_(std::move(chooser)),
      protocols_(std::move(protocols)) {
  const Result<void> sound = check(protocols_);
  expects(sound.has_value(), sound ? "" : sound.error().detail.c_str());
  for (std::size_t at = 0; at < protocols_.size(); ++at) {
    protocols_[at]->attach(*this, static_cast<Large>(at));
    if (protocols_[at]->facts().offers) offering_ = protocols_[at].get();
    for (const wire::Kind kind : protocols_[at]->facts().kinds) {
      by_kind_[static_cast<std::uint8_t>(kind)] = protocols_[at].get();
    }
  }
}

Post Rendezvous::announce(Request& request, bool stalled) noexcept {
  Peer& peer = *request.peer;
  Transfer* const transfer = transfers_.add(request, peer);
  if (transfer == nullptr) {
    complete_send(request, Fault::no_memory);
    return Post::done;
  }
  transfer->contiguous = request.buffer.layout == nullptr;
  transfer->total = request.buffer.bytes;
  wire::Rts header{envelope_of(request, wire::Kind::rts), request.buffer.bytes, transfer->id, {}};
  if (offering_ != nullptr) offering_->offer(*transfer, header.offer);
  if (transfer->contiguous) header.envelope.prefix.flags = wire::kContiguous;
  if (stalled) header.envelope.prefix.flags |= wire::kStalled;
  if (!stalled && peer.waits.mostly(request.buffer.bytes)) header.envelope.prefix.flags |= wire::kInvite;
  if (peer.endpoint->send_from(wire::bytes_of(header), {}, nullptr) == Post::again) {
    transfers_.remove(*transfer);
    return Post::again;
  }
  ++peer.ordered_sent;
  request.order = transfer->id;
  request.phase = kAnnounced;
  transfer->announced = true;
  ++peer.announced;
  transfer->long_send = !stalled;
  if (!stalled) ++peer.large.long_sends;
  ++announced_ever_;
  return Post::posted;
}

bool Rendezvous::announced(ProcId to, const btl::RemoteBuffer& what, std::size_t bytes) const noexcept {
  const Transfer* const transfer = transfers_.find(what.key);
  if (transfer == nullptr || transfer->receive || transfer->stage != Stage::announced) return false;
  if (transfer->peer->proc != to || !transfer->contiguous) return false;
  const auto first = reinterpret_cast<std::uintptr_t>(transfer->request->buffer.base);
  const std::uint64_t length = transfer->request->buffer.bytes;
  return what.address >= first && what.address - first <= length && bytes <= length - (what.address - first);
}

void Rendezvous::match(Request& request, Peer& peer, const Arrival& arrival, bool kept) noexcept {
  request.peer = &peer;
  request.order = 0;
  request.status.source = arrival.rank;
  request.status.tag = arrival.tag;
  const std::uint64_t total = std::min(arrival.length, request.buffer.bytes);
  if (arrival.length > request.buffer.bytes) {
    request.flags |= kTruncated;
    request.total = arrival.length;
  }
  const Contact contact = peers_.connect(peer);
  if (contact == Contact::none) return complete_receive(request, 0, fault_of(peer));
  const bool wanted = total != 0 && place(request.buffer, total);
  Transfer* const transfer = wanted ? transfers_.add(request, peer) : nullptr;
  if (transfer == nullptr) {
    pml::answer(outbox_, peer, wire::Kind::fin, arrival.sender_id);
    return complete_receive(request, 0, total == 0 ? Fault::none : Fault::no_memory);
  }
  request.order = transfer->id;
  request.phase = kMoving;
  transfer->remote = arrival.sender_id;
  transfer->total = total;
  transfer->offer = arrival.offer;
  transfer->contiguous = (arrival.flags & wire::kContiguous) != 0 && request.buffer.layout == nullptr;
  if (contact != Contact::made || !transfer->contiguous) {
    begin(*transfer, {Large{0}});
  } else if (kept && may_turn_out_both(*transfer)) {
    transfer->stage = Stage::undecided;
    peer.large.undecided.push_back(*transfer);
    outbox_.mark_busy(peer);
  } else {
    begin(*transfer, choose(*transfer));
  }
}

std::uint32_t Rendezvous::possible(const Transfer& transfer) noexcept {
  std::uint32_t bits = 0;
  for (std::size_t at = 0; at < protocols_.size(); ++at) {
    const bool usable = !transfer.peer->large.with[at].off && protocols_[at]->possible(transfer);
    bits |= usable ? 1u << at : 0u;
  }
  return bits;
}

/// As things stand.
LargeChoice Rendezvous::choose(Transfer& transfer) noexcept {
  Peer& peer = *transfer.peer;
  const LargeReceive receive{peer, transfer.total, false, possible(transfer)};
  if (peer.large.long_sends != 0) {
    peer.large.both_ways = true;
    LargeReceive both = receive;
    both.both = true;
    const LargeChoice choice = chooser_->choose(both);
    if (!both.can(choice.protocol)) return {Large{0}};
    if (numbered(choice.protocol).ready(transfer)) return choice;
    numbered(choice.protocol).prepare(peer);
  }
  const LargeChoice choice = chooser_->choose(receive);
  if (receive.can(choice.protocol) && numbered(choice.protocol).ready(transfer)) return choice;
  if (receive.can(choice.protocol)) numbered(choice.protocol).prepare(peer);
  return {Large{0}};
}

/// Who receives first and sends then has not sent yet when a message is found that came early.
bool Rendezvous::may_turn_out_both(const Transfer& transfer) noexcept {
  const Peer& peer = *transfer.peer;
  if (peer.large.long_sends != 0 || !peer.large.both_ways) return false;
  const std::uint32_t can = possible(transfer);
  return chooser_->choose({peer, transfer.total, true, can}).protocol !=
         chooser_->choose({peer, transfer.total, false, can}).protocol;
}

void Rendezvous::begin(Transfer& transfer, LargeChoice choice) noexcept {
  assign(transfer, choice.protocol);
  transfer.trial = choice.trial;
  if (choice.trial != 0) transfer.begun_ns = now_ns();
  transfer.stage = Stage::moving;
  ++transfer.peer->large.receives;
  transfer.protocol->accept(transfer);
}

int Rendezvous::decide(Peer& peer) noexcept {
  int events = 0;
  while (Transfer* const transfer = peer.large.undecided.pop_front()) {
    begin(*transfer, choose(*transfer));
    ++events;
  }
  return events;
}

int Rendezvous::push(Peer& peer) noexcept {
  int events = 0;
  for (std::size_t at = 0; at < protocols_.size(); ++at) {
    if (!peer.large.with[at].queue.empty()) events += protocols_[at]->push(peer);
  }
  return events;
}

bool Rendezvous::needs_passes(const Peer& peer) const noexcept {
  for (std::size_t at = 0; at < protocols_.size(); ++at) {
    if (protocols_[at]->facts().steps && !peer.large.with[at].queue.empty()) return true;
  }
  return !peer.large.undecided.empty();
}

void Rendezvous::on_answer(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Answer header;
  if (!wire::read(message, header)) return malformed(peer, "an answer is shorter than its header");
  Transfer* const transfer = find(peer, header.sender_id);
  if (transfer == nullptr || transfer->receive || transfer->stage != Stage::announced) return;
  // No protocol has taken it, and so none has counted it: it has no bytes, or none that the receiver takes.
  if (header.prefix.kind == wire::Kind::fin) ++peer.slow_sent.ring.count;
  if (header.prefix.kind != wire::Kind::cancel_answer) {
    finish(*transfer, Fault::none);
  } else if ((header.prefix.flags & wire::kGranted) != 0) {
    finish(*transfer, Fault::none, true);
  }
}

Transfer* Rendezvous::take_announced(Peer& peer, std::uint64_t id, Large number) noexcept {
  Transfer* const transfer = find(peer, id);
  if (transfer == nullptr || !transfer->announced || transfer->stage != Stage::announced) return nullptr;
  settle_announced(*transfer);
  assign(*transfer, number);
  transfer->stage = Stage::moving;
  transfer->request->phase = kMoving;
  peer.large.its_protocols[SizeClasses::of(transfer->request->buffer.bytes)] = number;
  return transfer;
}

Transfer* Rendezvous::receiving(const Peer& peer, std::uint64_t id, Large number) const noexcept {
  Transfer* const transfer = find(peer, id);
  const bool its = transfer != nullptr && transfer->receive && transfer->stage == Stage::moving &&
                   transfer->number == number;
  return its ? transfer : nullptr;
}

void Rendezvous::queue(Transfer& transfer) noexcept {
  if (transfer.queued) return;
  transfer.queued = true;
  with(*transfer.peer, transfer.number).queue.push_back(transfer);
  outbox_.mark_busy(*transfer.peer);
}

void Rendezvous::unqueue(Transfer& transfer) noexcept {
  if (!transfer.queued) return;
  transfer.queued = false;
  with(*transfer.peer, transfer.number).queue.remove(transfer);
}

void Rendezvous::count(const Transfer& send, std::uint64_t bytes) noexcept {
  Traffic& sent = send.peer->slow_sent;
  Traffic::Messages& messages = send.protocol->facts().pushes ? sent.ring : sent.get;
  ++messages.count;
  messages.bytes += bytes;
}

void Rendezvous::settle_announced(Transfer& transfer) noexcept {
  if (!transfer.announced) return;
  transfer.announced = false;
  --transfer.peer->announced;
  if (transfer.peer->holds_back()) outbox_.mark_busy(*transfer.peer);
}

/// A receive whose time was asked for has all its data.
void Rendezvous::end_trial(Transfer& transfer) noexcept {
  Peer& peer = *transfer.peer;
  const std::uint64_t now = now_ns();
  chooser_->took(transfer.trial, transfer.total, now - std::max(transfer.begun_ns, peer.large.trial_end_ns));
  peer.large.trial_end_ns = now;
}

void Rendezvous::finish(Transfer& transfer, Fault fault, bool cancelled) noexcept {
  unqueue(transfer);
  Request& request = *transfer.request;
  const std::uint64_t moved = transfer.moved;
  if (transfer.receive) {
    if (transfer.trial != 0 && fault == Fault::none) end_trial(transfer);
    if (transfer.stage == Stage::moving) --transfer.peer->large.receives;
  } else {
    settle_announced(transfer);
    if (transfer.long_send) --transfer.peer->large.long_sends;
  }
  transfers_.remove(transfer);
  if (request.receive) return complete_receive(request, moved, fault, cancelled);
  // Who has left without having received it does not answer a cancel any more: the cancel succeeds.
  const bool in_vain = fault == Fault::peer_left && (request.flags & kCancelAsked) != 0;
  complete_send(request, in_vain ? Fault::none : fault, in_vain || cancelled);
}

void Rendezvous::give_up(Transfer& transfer, const char* why) noexcept {
  unqueue(transfer);
  Peer& peer = *transfer.peer;
  with(peer, transfer.number).off = true;
  notes_.add(peer.proc, ": ", why);
  assign(transfer, Large{0});
  transfer.protocol->accept(transfer);
}

void Rendezvous::lose(Peer& peer) noexcept {
  while (peer.large.undecided.pop_front() != nullptr) {
  }
  transfers_.each([&](Transfer& transfer) {
    if (transfer.peer != &peer || transfer.borrowed) return;  // the transport ends what it has borrowed
    if (transfer.protocol != nullptr && !transfer.protocol->drop(transfer)) return;
    finish(transfer, peer.fault);
  });
  for (std::size_t at = 0; at < protocols_.size(); ++at) {
    protocols_[at]->lose(peer);
    peer.large.with[at].state.reset();
  }
}

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
// What is hard: data that come for a message that no posted receive took must go nowhere; and a send is complete when its
// data have left and its receiver has taken them, whichever comes last. Layer: framework.
// Design: docs/design/pml.md, "Early push".
#include "frameworks/pml/early.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <vector>

#include "frameworks/pml/matching.hpp"
#include "frameworks/pml/put.hpp"
#include "frameworks/pml/rendezvous.hpp"
#include "frameworks/pml/request_state.hpp"

namespace starling::pml {

using namespace detail;

namespace {

/// A receive that waits at the peer.
struct Hint {
  ContextId context;
  Tag tag{0};
  std::uint64_t bytes = 0;
  std::uint64_t seen = 0;  ///< announcements of ours that had come there
};

struct Sending {
  bool taken = false;  ///< the receiver has said so
};

constexpr std::size_t kHintsMost = 64;
constexpr unsigned kLooksMost = 64;  // at earlier receives
constexpr std::uint64_t kMissesMost = 8;

}  // namespace

struct Early::Pair final : ProtocolState {
  std::vector<Hint> hints;
  std::vector<Transfer*> receives;  ///< whose data come
  std::uint64_t pushed = 0, missed = 0;
};

const Protocol::Facts& Early::facts() const noexcept {
  static constexpr std::array kKinds{wire::Kind::ready, wire::Kind::early, wire::Kind::early_taken};
  static constexpr Facts kFacts{
      .name = "early", .kinds = kKinds, .contiguous = false, .steps = false, .pushes = true};
  return kFacts;
}

Early::Pair* Early::pair(Peer& peer) const noexcept {
  return static_cast<Pair*>(rendezvous_->with(peer, number_).state.get());
}

Early::Pair* Early::make_pair(Peer& peer) noexcept {
  auto& state = rendezvous_->with(peer, number_).state;
  if (state == nullptr) state.reset(new (std::nothrow) Pair);
  return static_cast<Pair*>(state.get());
}

// Receiver

/// Only if every message that could come first has a receive of its own before this one: otherwise the message that the
/// sender would take for this one may be another's.
void Early::tell(Request& request, const Source& source) noexcept {
  Peer& peer = *source.peer;
  if (request.tag == kAnyTag || peer.state != PeerState::connected || peer.paths != nullptr) return;
  if (first_fitting(request.context->any_source, request.tag) != nullptr) return;
  unsigned looks = 0;
  for (const Request* at = source.posted.front(); at != nullptr; at = RequestChain::after(*at)) {
    if (++looks > kLooksMost || at->tag == kAnyTag) return;
    if (at->tag == request.tag && (at->flags & kTold) == 0) return;
  }
  request.flags |= kTold;
  ++counters_.told;
  const wire::Ready header{{wire::Kind::ready, 0, 0, 0},
                           request.context->id().bits,
                           to_int(request.tag),
                           to_int(request.context->my_rank()),
                           request.buffer.bytes,
                           peer.large.announcements_seen};
  rendezvous_->answer(peer, wire::bytes_of(header));
}

void Early::accept(Transfer& receive) noexcept {
  Peer& peer = *receive.peer;
  try {
    Pair* const with = make_pair(peer);
    if (with == nullptr) throw std::bad_alloc();
    with->receives.push_back(&receive);
  } catch (const std::bad_alloc&) {
    return rendezvous_->give_up(receive, "no memory for messages that are pushed early");
  }
  pml::answer_to(*rendezvous_, peer, wire::Kind::early_taken, receive.remote);
}

void Early::on_data(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Data header;
  if (!wire::read(message, header) || message.size() - sizeof header < header.prefix.length) {
    return rendezvous_->malformed(peer, "an early fragment is shorter than it says");
  }
  Pair* const with = pair(peer);
  if (with == nullptr) return;
  const auto found = std::find_if(with->receives.begin(), with->receives.end(), [&](const Transfer* receive) {
    return receive->remote == header.receiver_id;
  });
  if (found == with->receives.end()) return;  // no posted receive took it
  Transfer& receive = **found;
  const auto bytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(header.prefix.length, receive.total - receive.moved));  // a receive may be too short
  const Buffer& buffer = receive.request->buffer;
  const std::byte* const payload = message.data() + sizeof header;
  if (buffer.layout != nullptr) {
    buffer.layout->unpack(buffer.base, buffer.count, receive.moved, payload, bytes);
  } else {
    std::memcpy(static_cast<std::byte*>(buffer.base) + receive.moved, payload, bytes);
  }
  receive.moved += bytes;
  if (receive.moved != receive.total) return;
  with->receives.erase(found);
  rendezvous_->finish(receive, Fault::none);
}

// Sender

void Early::on_ready(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Ready header;
  if (!wire::read(message, header)) return rendezvous_->malformed(peer, "a hint is shorter than its header");
  Pair* const with = make_pair(peer);
  if (with == nullptr || header.seen < peer.large.announced_alone) return;
  try {
    if (with->hints.size() == kHintsMost) with->hints.erase(with->hints.begin());
    with->hints.push_back({ContextId{header.context}, Tag{header.tag}, header.bytes, header.seen});
  } catch (const std::bad_alloc&) {
    with->hints.clear();
  }
}

bool Early::awaited(const Transfer& send) noexcept {
  Peer& peer = *send.peer;
  Pair* const with = pair(peer);
  const Request& request = *send.request;
  if (with == nullptr || with->hints.empty() || peer.paths != nullptr || request.buffer.bytes > kLongest)
    return false;
  if (with->missed > kMissesMost && with->missed > with->pushed / 8) return false;
  const auto found = std::find_if(with->hints.begin(), with->hints.end(), [&](const Hint& hint) {
    return hint.context == request.context->id() && hint.tag == request.tag;
  });
  if (found == with->hints.end()) return false;
  const bool fits = found->bytes >= request.buffer.bytes;
  with->hints.erase(found);  // whatever becomes of this message, its receive is taken by it
  return fits;
}

void Early::begin(Transfer& send) noexcept {
  ++counters_.pushed;
  ++pair(*send.peer)->pushed;
  send.early = true;
  send.number = number_;
  send.make_state<Sending>();
  rendezvous_->queue(send);
}

/// What the receiver had posted when it had not seen this one yet may be taken by it.
void Early::announced_alone(Peer& peer) noexcept {
  peer.large.announced_alone = peer.large.announcements_sent;
  if (Pair* const with = pair(peer)) {
    std::erase_if(with->hints, [&](const Hint& hint) { return hint.seen < peer.large.announced_alone; });
  }
}

void Early::missed(Transfer& send) noexcept {
  send.early = false;
  send.moved = 0;
  ++counters_.missed;
  ++pair(*send.peer)->missed;
}

void Early::on_taken(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Answer header;
  if (!wire::read(message, header))
    return rendezvous_->malformed(peer, "an answer is shorter than its header");
  Transfer* const send = rendezvous_->find(peer, header.sender_id);
  if (send == nullptr || send->receive || !send->early || send->state<Sending>().taken) return;
  send->state<Sending>().taken = true;
  rendezvous_->taken_early(*send);
  if (send->moved == send->request->buffer.bytes) end(*send);
}

void Early::end(Transfer& send) noexcept {
  rendezvous_->count(send, send.request->buffer.bytes);
  rendezvous_->finish(send, Fault::none);
}

int Early::push(Peer& peer) noexcept {
  TransferChain& queue = rendezvous_->with(peer, number_).queue;
  int events = 0;
  for (std::uint32_t sent = 0; sent < fragments_ && !queue.empty(); ++sent) {
    Transfer& send = *queue.front();
    const std::uint64_t all = send.request->buffer.bytes;
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(peer.fragment_bytes, all - send.moved));
    const wire::Data header{{wire::Kind::early, 0, 0, static_cast<std::uint32_t>(bytes)}, send.id};
    if (put(*peer.endpoint, wire::bytes_of(header), send.request->buffer, send.moved, bytes) == Post::again) break;
    ++events;
    send.moved += bytes;
    if (send.moved != all) continue;
    rendezvous_->unqueue(send);
    if (send.state<Sending>().taken) end(send);
  }
  return events;
}

void Early::on_message(Peer& peer, std::span<const std::byte> message) noexcept {
  switch (static_cast<wire::Kind>(message.front())) {
    case wire::Kind::ready: return on_ready(peer, message);
    case wire::Kind::early: return on_data(peer, message);
    default: return on_taken(peer, message);
  }
}

bool Early::drop(Transfer& transfer) noexcept {
  if (Pair* const with = pair(*transfer.peer)) std::erase(with->receives, &transfer);
  return true;
}

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
// What is hard: a request that a peer was told of may have ended in the fast path, which tells nobody. The
// position says so: as long as nothing of the peer's has been taken since, the receive is still posted.
// Layer: framework. Design: docs/design/early-push.md.
#include "frameworks/pml/early.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "core/clock.hpp"
#include "core/copy.hpp"
#include "frameworks/btl/writes.hpp"
#include "frameworks/pml/matching.hpp"
#include "frameworks/pml/size_classes.hpp"

namespace starling::pml {

using namespace detail;

namespace {

constexpr unsigned kLooksMost = 16;   // at earlier receives
constexpr std::size_t kToldMost = 8;  // contexts in which a peer may tell of a receive
constexpr std::uint32_t kMissesMost = 8;

/// Null without memory.
Invitations* invitations_of(Peer& peer) noexcept {
  if (peer.invitations == nullptr) peer.invitations.reset(new (std::nothrow) Invitations);
  return peer.invitations.get();
}

/// Whether no receive of these that was posted before this one could have its message; false also where there
/// are too many to look at.
bool none_before(const RequestChain& posted, const Request& request) noexcept {
  unsigned looks = 0;
  for (const Request* at = posted.front(); at != nullptr; at = RequestChain::after(*at)) {
    if (at->order >= request.order) return true;
    if (++looks > kLooksMost || tag_fits(at->tag, request.tag)) return false;
  }
  return true;
}

std::uint32_t class_of(const Request& request) noexcept {
  return 1u << SizeClasses::of(request.buffer.bytes);
}

template <class List>
auto of_context(List& list, ContextId context) noexcept {
  return std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.context == context; });
}

}  // namespace

// Sender

void Early::on_invite(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Invite header;
  if (!wire::read(message, header)) return notes_.malformed(peer, "an invitation is shorter than its header");
  const Invitation invitation{
      ContextId{header.context}, Tag{header.tag},  header.permit, header.address, header.bytes,
      header.position,           header.generation};
  Invitations* const with = use_ != EarlyPush::off ? invitations_of(peer) : nullptr;
  if (with == nullptr || with->failed) return;
  if (const auto old = of_context(with->ours, invitation.context); old != with->ours.end()) {
    *old = invitation;
    return;
  }
  try {
    if (with->ours.size() == kToldMost) with->ours.erase(with->ours.begin());
    with->ours.push_back(invitation);
  } catch (const std::bad_alloc&) {
    // It may be forgotten at any time.
  }
}

Early::Pushed Early::push_invited(Request& request) noexcept {
  Peer& peer = *request.peer;
  auto& ours = peer.invitations->ours;
  const auto found = of_context(ours, wire_context_of(request));
  if (found == ours.end()) return Pushed::no;
  const Invitation invitation = *found;
  const std::uint64_t bytes = request.buffer.bytes;
  const bool its = wants(request, peer) && invitation.position == peer.sent() &&
                   invitation.tag == request.tag && bytes <= std::min(invitation.bytes, kLongest) &&
                   request.buffer.layout == nullptr && !measured_again(peer) &&
                   (request.flags & kReleased) == 0 && !peer.holds_back() && peer.paths == nullptr &&
                   peer.endpoint->writes() != nullptr &&
                   invitation.permit < peer.endpoint->writes()->its_permits().size();
  // Whatever becomes of this message: the next one is not the one that was waited for.
  if (!its) {
    ours.erase(found);
    return Pushed::no;
  }
  wire::Early header{envelope_of(request, wire::Kind::early), bytes, invitation.generation};
  // Room for the envelope first, or the copy could have been in vain.
  std::byte* const envelope = peer.endpoint->reserve(sizeof header);
  if (envelope == nullptr) return Pushed::again;
  ours.erase(found);
  const bool written = write(request, invitation);
  if (!written) header.envelope.prefix.flags = wire::kUnwritten;
  std::memcpy(envelope, &header, sizeof header);
  peer.endpoint->commit(sizeof header);
  ++peer.ordered_sent;
  if (!written) return Pushed::no;
  ++counters_.pushed;
  counters_.bytes += bytes;
  complete_send(request, Fault::none);
  return Pushed::done;
}

/// Now and then a message goes as others do, to see whether that has become as good.
bool Early::measured_again(const Peer& peer) const noexcept {
  return use_ == EarlyPush::automatic && SendWaits::sampled_again(peer.ordered_sent);
}

void Early::announced(const Request& request) noexcept {
  Peer& peer = *request.peer;
  // The announcement is counted.
  if (use_ != EarlyPush::automatic || measures() || !SendWaits::sampled(peer.ordered_sent - 1)) return;
  if (request.buffer.layout != nullptr || request.buffer.bytes <= peer.eager_bytes) return;
  if (peer.transport->limits().reach != btl::Reach::node) return;
  measured_ = {&peer, request.order, request.buffer.bytes, 0};
}

/// The first pass after a send is when the program has begun to wait; what it computed before is its own.
void Early::look() noexcept {
  if (!measures()) return;
  const std::uint64_t now = now_ns();
  if (measured_.from_ns == 0) measured_.from_ns = now;
  const Transfer* const transfer = transfers_.find(measured_.id);
  if (transfer != nullptr && transfer->stage == Transfer::Stage::announced) return;
  measured_.peer->waits.waited(measured_.bytes, now - measured_.from_ns);
  measured_ = {};
}

/// False: the receive has been taken back, or its memory cannot be reached.
bool Early::write(Request& request, const Invitation& invitation) noexcept {
  Peer& peer = *request.peer;
  btl::Writes& writes = *peer.endpoint->writes();
  const auto* const from = static_cast<const std::byte*>(request.buffer.base);
  const auto bytes = static_cast<std::size_t>(request.buffer.bytes);
  std::byte* const mapped = writes.find(invitation.address, bytes);
  if (mapped == nullptr && !writes.may_copy()) return false;
  btl::Permit<StdAtomics> permit(writes.its_permits()[invitation.permit], invitation.generation);
  if (!permit.take()) return false;
  bool written = true;
  if (mapped != nullptr) {
    copy_payload(mapped, from, bytes);
  } else {
    written = writes.copy(invitation.address, {from, bytes});
    peer.invitations->failed |= !written;
  }
  permit.finish();
  return written;
}

// Receiver

void Early::waited(Peer& peer, const Request& request, std::uint8_t flags) const noexcept {
  if (use_ != EarlyPush::automatic) return;
  const bool wanted = (flags & wire::kInvite) != 0;
  peer.welcome = wanted ? peer.welcome | class_of(request) : peer.welcome & ~class_of(request);
  peer.receives_apart = peer.welcome != 0 || peer.state == PeerState::lost;
}

bool Early::possible(const Request& request, const Peer& peer) const noexcept {
  if (request.buffer.layout != nullptr || request.buffer.bytes <= peer.eager_bytes) return false;
  // Receives in collectives end when another member dies, whatever their sender does.
  if (request.tag == kAnyTag || request.context->id().channel() != Channel::point_to_point) return false;
  if (peer.state != PeerState::connected || peer.paths != nullptr) return false;
  if (use_ == EarlyPush::automatic && (peer.welcome & class_of(request)) == 0) return false;
  btl::Writes* const writes = peer.endpoint->writes();
  return writes != nullptr && writes->may_copy();
}

/// A peer that is never in time is told seldom.
bool Early::worth_it(Invitations& with) const noexcept {
  if (use_ != EarlyPush::automatic || with.missed < kMissesMost) return true;
  if (with.pause != 0) {
    --with.pause;
    return false;
  }
  with.pause = 8u << std::min(with.missed - kMissesMost, 7u);
  return true;
}

void Early::invite(Request& request, Source& source) noexcept {
  Peer& peer = *source.peer;
  if (use_ == EarlyPush::off || !possible(request, peer)) return;
  if (!none_before(source.posted, request) || !none_before(request.context->any_source, request)) return;
  Invitations* const with = invitations_of(peer);
  const ContextId context = request.context->id();
  if (with == nullptr || !clear(peer, *with, context) || !worth_it(*with)) return;
  const int permit = take_permit(peer);
  if (permit < 0) return;
  const Invited invited{context, &request, static_cast<std::uint32_t>(permit), peer.taken(), ++generations_};
  try {
    with->its.push_back(invited);
  } catch (const std::bad_alloc&) {
    free_ |= std::uint64_t{1} << permit;
    return;
  }
  permit_of(invited).open();
  request.flags |= kInvited;
  ++counters_.invited;
  const wire::Invite header{{wire::Kind::invite, 0, 0, 0},
                            context.bits,
                            to_int(request.tag),
                            invited.permit,
                            reinterpret_cast<std::uintptr_t>(request.buffer.base),
                            request.buffer.bytes,
                            invited.position,
                            invited.generation};
  outbox_.answer(peer, wire::bytes_of(header));
}

/// One is enough: the sender keeps one of a context.
void Early::invite_first(Source& source) noexcept {
  unsigned looks = 0;
  for (Request* at = source.posted.front(); at != nullptr && ++looks <= kLooksMost;
       at = RequestChain::after(*at)) {
    if (possible(*at, *source.peer)) return invite(*at, source);
  }
}

bool Early::clear(Peer& peer, Invitations& with, ContextId context) noexcept {
  const auto old = of_context(with.its, context);
  if (old == with.its.end()) return true;
  if (old->position == peer.taken()) return false;
  forget(with, static_cast<std::size_t>(old - with.its.begin()));
  return true;
}

int Early::take_permit(Peer& peer) noexcept {
  if (permits_.empty()) {
    permits_ = peer.endpoint->writes()->own_permits();
    free_ = ~std::uint64_t{0} >> (64 - std::clamp<std::size_t>(permits_.size(), 1, 64));
    if (permits_.empty()) return -1;
  }
  if (free_ == 0) forget_void();
  if (free_ == 0) return -1;
  const int permit = std::countr_zero(free_);
  free_ &= free_ - 1;
  return permit;
}

/// Of all peers: what has been overtaken by other messages.
void Early::forget_void() noexcept {
  peers_.each([this](Peer& peer) {
    if (peer.invitations == nullptr) return;
    auto& its = peer.invitations->its;
    for (std::size_t at = its.size(); at-- > 0;) {
      if (its[at].position != peer.taken()) forget(*peer.invitations, at);
    }
  });
}

void Early::erase(Invitations& with, std::size_t at, bool back) noexcept {
  if (back) free_ |= std::uint64_t{1} << with.its[at].permit;
  with.its.erase(with.its.begin() + static_cast<std::ptrdiff_t>(at));
}

/// It has been overtaken. A peer that has taken its permit all the same does not get that word again.
void Early::forget(Invitations& with, std::size_t at) noexcept {
  erase(with, at, permit_of(with.its[at]).close());
  ++with.missed;
}

void Early::on_early(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Early header;
  if (!wire::read(message, header))
    return notes_.malformed(peer, "an early message is shorter than its header");
  const std::uint64_t position = peer.taken();
  ++peer.ordered_taken;
  Invitations* const with = peer.invitations.get();
  const auto nobody = [&] {
    // What was taken back meanwhile is no fault of the peer's.
    if (header.generation == 0 || header.generation > generations_) {
      notes_.malformed(peer, "it has written to a receive that it was not told of");
    }
  };
  if (with == nullptr) return nobody();
  const auto found = std::find_if(with->its.begin(), with->its.end(), [&](const Invited& invited) {
    return invited.generation == header.generation;
  });
  if (found == with->its.end()) return nobody();
  const Invited invited = *found;
  erase(*with, static_cast<std::size_t>(found - with->its.begin()), true);
  if (invited.position != position) return notes_.malformed(peer, "an early message is not the next one");
  complete(*invited.request, header);
}

/// The receive is posted.
void Early::complete(Request& request, const wire::Early& header) noexcept {
  Peer& peer = *request.peer;
  Source& source = *request.context->touched(request.rank);
  request.flags &= ~kInvited;
  if ((header.envelope.prefix.flags & wire::kUnwritten) != 0) {
    ++peer.invitations->missed;
    if ((request.flags & kCancelAsked) == 0) return;  // the message follows
    source.posted.remove(request);
    return complete_receive(request, 0, Fault::none, true);
  }
  const wire::Envelope& envelope = header.envelope;
  if (envelope.context != request.context->id().bits || envelope.source != to_int(request.rank) ||
      envelope.tag != to_int(request.tag) || header.length > request.buffer.bytes) {
    return notes_.malformed(peer, "an early message is not what its receive waits for");
  }
  peer.invitations->missed = 0;
  ++counters_.taken;
  source.posted.remove(request);
  request.status.source = request.rank;
  request.status.tag = request.tag;
  complete_receive(request, header.length, Fault::none);
  invite_next(source);
}

bool Early::withdraw(Request& request) noexcept {
  Peer& peer = *request.peer;
  Invitations* const with = peer.invitations.get();
  request.flags &= ~kInvited;
  if (with == nullptr) return true;
  const auto found = of_context(with->its, request.context->id());
  if (found == with->its.end() || found->request != &request) return true;
  const bool closed = permit_of(*found).close();
  if (!closed && found->position == peer.taken()) {
    request.flags |= kInvited;
    return false;
  }
  erase(*with, static_cast<std::size_t>(found - with->its.begin()), closed);
  ++counters_.withdrawn;
  return true;
}

void Early::end(Request& request) noexcept {
  if ((request.flags & kInvited) == 0 || withdraw(request)) return;
  Invitations& with = *request.peer->invitations;
  const auto found = of_context(with.its, request.context->id());
  erase(with, static_cast<std::size_t>(found - with.its.begin()), wait_until_written(*found));
}

/// The peer is within the call that writes, and says when it is through; unless it dies there, or is stopped.
bool Early::wait_until_written(const Invited& invited) const noexcept {
  constexpr std::uint64_t kMostNs = 10'000'000'000;
  const auto permit = permit_of(invited);
  const std::uint64_t begun = now_ns();
  while (!permit.written()) {
    if (now_ns() - begun > kMostNs) return false;
    ::sched_yield();
  }
  return true;
}

/// A peer that has ended writes nothing any more. One that lives may still find its invitations.
void Early::lose(Peer& peer) noexcept {
  if (peer.invitations == nullptr) return;
  for (const Invited& invited : peer.invitations->its) {
    const bool back = permit_of(invited).close() || peer_gone(peer.fault) || wait_until_written(invited);
    if (back) free_ |= std::uint64_t{1} << invited.permit;
  }
  peer.invitations.reset();
}

}  // namespace starling::pml

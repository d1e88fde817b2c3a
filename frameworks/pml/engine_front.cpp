// SPDX-License-Identifier: BSD-3-Clause
// What the peers ask of their front: state in each peer, what waits for room, and the data of long messages.
#include <algorithm>
#include <array>

#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

namespace {

constexpr peer::KindFacts facts_of(wire::Kind kind, peer::Order order) noexcept {
  return {static_cast<std::uint8_t>(kind), order};
}

using peer::Order;

/// Answers name a message by its id. A cancel that comes before its message would find nothing; what `held`
/// tells is true after the messages before it.
constexpr std::array kOwn{
    facts_of(wire::Kind::eager, Order::kept),         facts_of(wire::Kind::eager_sync, Order::kept),
    facts_of(wire::Kind::rts, Order::kept),           facts_of(wire::Kind::cancel, Order::kept),
    facts_of(wire::Kind::held, Order::kept),          facts_of(wire::Kind::fin, Order::free),
    facts_of(wire::Kind::sync_ack, Order::free),      facts_of(wire::Kind::credit, Order::free),
    facts_of(wire::Kind::cancel_answer, Order::free), facts_of(wire::Kind::go_on, Order::free),
    facts_of(wire::Kind::pushed, Order::kept),        facts_of(wire::Kind::grant, Order::free),
    facts_of(wire::Kind::returned, Order::free),      facts_of(wire::Kind::early, Order::kept),
    facts_of(wire::Kind::invite, Order::free),        facts_of(wire::Kind::parted, Order::kept),
    facts_of(wire::Kind::part, Order::kept)};

}  // namespace

std::vector<peer::KindFacts> kinds_of(const Rendezvous& rendezvous) {
  std::vector<peer::KindFacts> kinds(kOwn.begin(), kOwn.end());
  for (int kind = 0; kind < 256; ++kind) {
    if (rendezvous.protocol_of(wire::Kind(kind)) == nullptr) continue;
    kinds.push_back(
        facts_of(wire::Kind(kind), wire::Kind(kind) == wire::Kind::data_at ? Order::dealt : Order::free));
  }
  return kinds;
}

std::unique_ptr<peer::Peer> Engine::make_peer(ProcId proc) { return std::make_unique<Peer>(proc, window_); }

void Engine::on_connected(peer::Peer& connected) noexcept {
  Peer& peer = own(connected);
  const btl::Limits& limits = peer.transport->limits();
  const peer::Paths* const paths = peer.paths.get();
  const std::size_t longest = paths != nullptr ? paths->message_max() : limits.message_max_bytes;
  const std::size_t eager = paths != nullptr ? paths->eager_bytes() : limits.eager_bytes;
  const std::size_t fragment = paths != nullptr ? paths->fragment_bytes() : limits.fragment_bytes;
  const std::size_t header = paths != nullptr ? sizeof(wire::DataAt) : sizeof(wire::Data);
  peer.whole_bytes =
      std::min(eager_limit_ == 0 ? eager : std::size_t{eager_limit_}, longest - sizeof(wire::SyncEnvelope));
  peer.eager_bytes = peer.whole_bytes;
  if (limits.part_bytes != 0 && paths == nullptr) set_parts(peer, limits);
  peer.fragment_bytes = std::clamp(fragment, header + 1, longest) - header;
  const bool spares = limits.send_from_bytes != 0 && paths == nullptr;
  peer.send_from_bytes = spares ? limits.send_from_bytes : SIZE_MAX;
  peer.join_bytes = paths == nullptr ? limits.join_bytes : 0;
  early_.met(peer);
  peer.update_fast_path();
}

/// A long message that is not received takes of the credit what several short ones would: it may go at once
/// where the window has room for some.
void Engine::set_parts(Peer& peer, const btl::Limits& limits) noexcept {
  constexpr std::int64_t kOfWindow = 4;
  const auto most = static_cast<std::size_t>(window_ / kOfWindow);
  const std::size_t asked = eager_limit_ == 0 ? limits.parted_bytes : std::size_t{eager_limit_};
  peer.eager_bytes = std::max(peer.whole_bytes, std::min(asked, most));
  peer.part_bytes = limits.part_bytes;
  peer.parts_above = limits.parts_above;
}

void Engine::on_no_contact(peer::Peer& peer) noexcept { sends_.drop(own(peer), fault_of(own(peer))); }

void Engine::send(peer::Peer& peer, std::uint8_t kind, std::span<const std::byte> payload) {
  sends_.send(own(peer), kind, payload);
}

int Engine::decide(peer::Peer& peer) noexcept { return rendezvous_.decide(own(peer)); }

int Engine::push(peer::Peer& peer) noexcept { return sends_.push(own(peer)); }

int Engine::push_data(peer::Peer& peer) noexcept { return rendezvous_.push(own(peer)); }

bool Engine::waiting(const peer::Peer& peer) const noexcept {
  return !own(peer).fifo.empty() || own(peer).large.waiting();
}

bool Engine::needs_passes(const peer::Peer& peer) const noexcept {
  return rendezvous_.needs_passes(own(peer));
}

int Engine::look() noexcept {
  early_.look();
  const int events = holders_.ask();
  all_.set_restless(holders_.any() || early_.measures());
  return events;
}

bool Engine::drained() const noexcept {
  if (sends_.held_now() != 0) return false;
  bool sending = false;
  transfers_.each([&](const Transfer& transfer) { sending |= !transfer.receive; });
  return !sending;
}

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
// First contact, off the hot path. See docs/design/pml.md, "Peers".
#include "frameworks/pml/wireup.hpp"

#include <algorithm>
#include <new>

#include "core/clock.hpp"
#include "core/log.hpp"

namespace starling::pml {
namespace {

bool is_network(const btl::Component& transport) noexcept {
  return transport.limits().reach == btl::Reach::network;
}

}  // namespace

Peer& PeerTable::peer(ProcId proc) {
  std::unique_ptr<Peer>& at = peers_[proc];
  if (!at) {
    at = std::make_unique<Peer>();
    at->proc = proc;
    at->credit = config_.window;
    at->return_at = config_.window / 2;
  }
  return *at;
}

Peer* PeerTable::find(ProcId proc) const noexcept {
  const auto at = peers_.find(proc);
  return at == peers_.end() ? nullptr : at->second.get();
}

void PeerTable::refuse(Peer& peer, const btl::Component& transport, const std::string& reason) {
  peer.refused.push_back(std::string(transport.name()) + ": " + reason);
  if (std::find(notes_.begin(), notes_.end(), peer.refused.back()) == notes_.end()) {
    notes_.push_back(peer.refused.back());
  }
}

PeerTable::Attempt PeerTable::try_transport(Peer& peer, btl::Component& transport) {
  const auto refused = [&](const std::string& why) {
    refuse(peer, transport, why);
    return Attempt{Tried::refused};
  };
  if (Result<void> reached = transport.reaches(peer.proc); !reached) {
    peer.refused.push_back(std::string(transport.name()) + ": " + reached.error().text());
    return {Tried::refused};
  }
  std::vector<std::byte> address;
  if (transport.needs().address != btl::AddressSource::computed) {
    if (book_ == nullptr) return refused("needs the peer's address, but nothing was set up to ask for it");
    auto found = book_->address(peer.proc, transport.name());
    if (!found) {
      const Errc code = found.error().code;
      refuse(peer, transport, found.error().text());
      return {code == Errc::timed_out ? Tried::timed_out : Tried::refused};
    }
    if (found->what == btl::Found::What::not_yet) return {Tried::not_yet};
    if (found->what == btl::Found::What::none) return refused("the peer does not use it");
    address = std::move(found->address);
  }
  auto made = transport.connect(peer.proc, address);
  if (!made) return refused(made.error().text());
  const bool polled = std::find(polled_.begin(), polled_.end(), &transport) != polled_.end();
  if (transport.limits().idle_passes == 0 && !polled) polled_.push_back(&transport);
  return {Tried::connected, *made};
}

void PeerTable::use(Peer& peer, btl::Component& transport, btl::Endpoint& endpoint) {
  const btl::Limits& limits = transport.limits();
  const std::size_t room = limits.message_max_bytes - sizeof(wire::SyncEnvelope);
  peer.eager_bytes =
      std::min(config_.eager_limit == 0 ? limits.eager_bytes : std::size_t{config_.eager_limit}, room);
  peer.fragment_bytes = std::clamp(limits.fragment_bytes, sizeof(wire::Data) + 1, limits.message_max_bytes) -
                        sizeof(wire::Data);
  peer.transport = &transport;
  peer.endpoint = &endpoint;
}

/// Further networks to a peer that is reached by one. Within a node one path is best.
void PeerTable::add_paths(Peer& peer, std::size_t from) {
  if (config_.paths_max <= 1 || !is_network(*peer.transport)) return;
  auto paths = std::make_unique<Paths>(config_.path_use);
  paths->add(*peer.transport, *peer.endpoint);
  for (std::size_t at = from; at < transports_.size() && paths->count() < config_.paths_max; ++at) {
    if (!is_network(*transports_[at])) continue;
    const Attempt attempt = try_transport(peer, *transports_[at]);
    if (attempt.tried == Tried::connected) paths->add(*transports_[at], *attempt.endpoint);
  }
  if (paths->count() == 1) return;
  const std::size_t longest = paths->message_max();
  const std::size_t room = longest - sizeof(wire::SyncEnvelope);
  peer.eager_bytes =
      std::min(config_.eager_limit == 0 ? paths->eager_bytes() : std::size_t{config_.eager_limit}, room);
  peer.fragment_bytes =
      std::clamp(paths->fragment_bytes(), sizeof(wire::DataAt) + 1, longest) - sizeof(wire::DataAt);
  peer.paths = std::move(paths);
  peer.endpoint = peer.paths.get();
}

Contact PeerTable::wait_for_address(Peer& peer) {
  const std::uint64_t now = now_ns();
  if (peer.state != PeerState::awaited) peer.asked_ns = now;
  peer.state = PeerState::awaited;
  peer.ask_at_ns = now + pause_before_asking_ns(now - peer.asked_ns);
  return Contact::later;
}

Contact PeerTable::connect_first(Peer& peer) noexcept {
  peer.starved = false;
  try {
    return try_transports(peer);
  } catch (const std::bad_alloc&) {
    peer.starved = true;
    return Contact::none;
  }
}

Contact PeerTable::try_transports(Peer& peer) {
  if (peer.state == PeerState::lost) return Contact::none;
  if (peer.state == PeerState::unreachable && peer.transports_tried == transports_.size()) {
    return Contact::none;
  }
  if (peer.state == PeerState::awaited && now_ns() < peer.ask_at_ns) return Contact::later;
  peer.refused.clear();
  bool may_come = false;
  for (std::size_t at = 0; at < transports_.size(); ++at) {
    const Attempt attempt = try_transport(peer, *transports_[at]);
    if (attempt.tried == Tried::not_yet) return wait_for_address(peer);
    may_come |= attempt.tried == Tried::timed_out;
    if (attempt.tried != Tried::connected) continue;
    use(peer, *transports_[at], *attempt.endpoint);
    add_paths(peer, at + 1);
    peer.state = PeerState::connected;
    peer.update_fast_path();
    return Contact::made;
  }
  peer.state = may_come ? PeerState::untried : PeerState::unreachable;
  peer.transports_tried = transports_.size();
  std::string text = "pml: no transport reaches rank " + std::to_string(peer.proc.rank) + " of world " +
                     std::to_string(peer.proc.world) + "; tried";
  if (transports_.empty()) text += " none: no btl is in use (see parameter btl)";
  for (const std::string& reason : peer.refused) text += "\n  " + reason;
  log::error(text);
  return Contact::none;
}

void PeerTable::make_way_back(ProcId to, btl::Component& network) {
  std::vector<std::byte> address;
  if (network.needs().address != btl::AddressSource::computed) {
    if (book_ == nullptr) return;
    auto found = book_->address(to, network.name());
    if (!found || found->what != btl::Found::What::address) return;
    address = std::move(found->address);
  }
  (void)network.connect(to, address);  // the transport knows it when the peer is connected after all
}

void PeerTable::make_ways_back() {
  for (const auto& [proc, peer] : peers_) {
    if (!peer->heard_of || peer->state != PeerState::untried) continue;
    for (btl::Component* const transport : transports_) {
      if (!transport->reaches(proc)) continue;
      if (!is_network(*transport)) break;
      make_way_back(proc, *transport);
    }
  }
}

}  // namespace starling::pml

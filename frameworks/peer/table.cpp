// SPDX-License-Identifier: BSD-3-Clause
// First contact, off the hot path. See docs/design/peers.md.
#include "frameworks/peer/table.hpp"

#include <algorithm>
#include <new>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "core/worlds.hpp"

namespace starling::peer {
namespace {

bool is_network(const btl::Component& transport) noexcept {
  return transport.limits().reach == btl::Reach::network;
}

}  // namespace

Peer& Table::peer(ProcId proc) {
  if (const auto at = peers_.find(proc); at != peers_.end()) return *at->second;
  std::unique_ptr<Peer> made = front_->make_peer(proc);
  return *peers_.emplace(proc, std::move(made)).first->second;
}

Peer* Table::find(ProcId proc) const noexcept {
  const auto at = peers_.find(proc);
  return at == peers_.end() ? nullptr : at->second.get();
}

void Table::refuse(Peer& peer, const btl::Component& transport, const std::string& reason) {
  peer.contact->refused.push_back(std::string(transport.name()) + ": " + reason);
  if (std::find(notes_.begin(), notes_.end(), peer.contact->refused.back()) == notes_.end()) {
    notes_.push_back(peer.contact->refused.back());
  }
}

Table::Attempt Table::try_transport(Peer& peer, btl::Component& transport) {
  const auto refused = [&](const std::string& why) {
    refuse(peer, transport, why);
    return Attempt{Tried::refused};
  };
  if (Result<void> reached = transport.reaches(peer.proc); !reached) {
    peer.contact->refused.push_back(std::string(transport.name()) + ": " + reached.error().text());
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

void Table::use(Peer& peer, btl::Component& transport, btl::Endpoint& endpoint) {
  peer.transport = &transport;
  peer.endpoint = &endpoint;
}

/// Further networks to a peer that is reached by one. Within a node one path is best.
void Table::add_paths(Peer& peer, std::size_t from) {
  if (paths_.max <= 1 || !is_network(*peer.transport)) return;
  auto paths = std::make_unique<Paths>(paths_.use, ports_);
  paths->add(*peer.transport, *peer.endpoint);
  for (std::size_t at = from; at < transports_.size() && paths->count() < paths_.max; ++at) {
    if (!is_network(*transports_[at])) continue;
    const Attempt attempt = try_transport(peer, *transports_[at]);
    if (attempt.tried == Tried::connected) paths->add(*transports_[at], *attempt.endpoint);
  }
  if (paths->count() == 1) return;
  peer.paths = std::move(paths);
  peer.endpoint = peer.paths.get();
}

Contact Table::wait_for_address(Peer& peer) {
  const std::uint64_t now = now_ns();
  if (peer.state != State::awaited) peer.contact->asked_ns = now;
  peer.state = State::awaited;
  peer.contact->ask_at_ns = now + pause_before_asking_ns(now - peer.contact->asked_ns);
  return Contact::later;
}

Contact Table::connect_first(Peer& peer) noexcept {
  peer.starved = false;
  try {
    return try_transports(peer);
  } catch (const std::bad_alloc&) {
    peer.starved = true;
    return Contact::none;
  }
}

Contact Table::try_transports(Peer& peer) {
  if (peer.state == State::lost) return Contact::none;
  if (peer.state == State::unreachable && peer.contact->transports_tried == transports_.size()) {
    return Contact::none;
  }
  if (peer.state == State::awaited && now_ns() < peer.contact->ask_at_ns) return Contact::later;
  peer.contact->refused.clear();
  bool may_come = false;
  for (std::size_t at = 0; at < transports_.size(); ++at) {
    const Attempt attempt = try_transport(peer, *transports_[at]);
    if (attempt.tried == Tried::not_yet) return wait_for_address(peer);
    may_come |= attempt.tried == Tried::timed_out;
    if (attempt.tried != Tried::connected) continue;
    use(peer, *transports_[at], *attempt.endpoint);
    add_paths(peer, at + 1);
    peer.state = State::connected;
    front_->on_connected(peer);
    return Contact::made;
  }
  peer.state = may_come ? State::untried : State::unreachable;
  peer.contact->transports_tried = transports_.size();
  std::string text = "peers: no transport reaches " + text_of(peer.proc) + "; tried";
  if (transports_.empty()) text += " none: no btl is in use (see parameter btl)";
  for (const std::string& reason : peer.contact->refused) text += "\n  " + reason;
  log::error(text);
  return Contact::none;
}

void Table::make_way_back(ProcId to, btl::Component& network) {
  std::vector<std::byte> address;
  if (network.needs().address != btl::AddressSource::computed) {
    if (book_ == nullptr) return;
    auto found = book_->address(to, network.name());
    if (!found || found->what != btl::Found::What::address) return;
    address = std::move(found->address);
  }
  (void)network.connect(to, address);  // the transport knows it when the peer is connected after all
}

void Table::make_ways_back() {
  for (const auto& [proc, peer] : peers_) {
    if (!peer->heard_of || peer->state != State::untried) continue;
    for (btl::Component* const transport : transports_) {
      if (!transport->reaches(proc)) continue;
      if (!is_network(*transport)) break;
      make_way_back(proc, *transport);
    }
  }
}

}  // namespace starling::peer

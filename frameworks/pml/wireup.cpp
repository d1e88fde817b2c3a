// SPDX-License-Identifier: BSD-3-Clause
// First contact, off the hot path. See docs/design/pml.md, "Peers".
#include "frameworks/pml/wireup.hpp"

#include <algorithm>

#include "core/log.hpp"

namespace starling::pml {

Peer& PeerTable::peer(ProcId proc) {
  std::unique_ptr<Peer>& at = peers_[proc];
  if (!at) {
    at = std::make_unique<Peer>();
    at->proc = proc;
    at->credit = window_;
    at->return_at = window_ / 2;
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

bool PeerTable::try_transport(Peer& peer, btl::Component& transport, bool& may_come) {
  if (Result<void> reached = transport.reaches(peer.proc); !reached) {
    peer.refused.push_back(std::string(transport.name()) + ": " + reached.error().text());
    return false;
  }
  std::vector<std::byte> address;
  if (transport.needs().address != btl::AddressSource::computed) {
    if (book_ == nullptr) {
      refuse(peer, transport, "needs the peer's address, but nothing was set up to ask for it");
      return false;
    }
    auto found = book_->address(peer.proc, transport.name());
    if (!found) {
      may_come |= found.error().code == Errc::timed_out;
      refuse(peer, transport, found.error().text());
      return false;
    }
    address = std::move(*found);
    if (address.empty()) {
      refuse(peer, transport, "the peer does not use it");
      return false;
    }
  }
  auto made = transport.connect(peer.proc, address);
  if (!made) {
    refuse(peer, transport, made.error().text());
    return false;
  }
  const btl::Limits& limits = transport.limits();
  const std::size_t room = limits.message_max_bytes - sizeof(wire::SyncEnvelope);
  peer.eager_bytes = std::min(eager_limit_ == 0 ? limits.eager_bytes : std::size_t{eager_limit_}, room);
  peer.fragment_bytes = std::clamp(limits.fragment_bytes, sizeof(wire::Data) + 1, limits.message_max_bytes) -
                        sizeof(wire::Data);
  peer.transport = &transport;
  peer.endpoint = *made;
  return true;
}

bool PeerTable::connect(Peer& peer) {
  if (peer.state == PeerState::connected) return true;
  if (peer.state == PeerState::lost) return false;
  if (peer.state == PeerState::unreachable && peer.transports_tried == transports_.size()) return false;
  peer.refused.clear();
  bool may_come = false;
  for (btl::Component* transport : transports_) {
    if (!try_transport(peer, *transport, may_come)) continue;
    peer.state = PeerState::connected;
    peer.update_fast_path();
    return true;
  }
  if (!may_come) {
    peer.state = PeerState::unreachable;
    peer.transports_tried = transports_.size();
  }
  std::string text = "pml: no transport reaches rank " + std::to_string(peer.proc.rank) + " of world " +
                     std::to_string(peer.proc.world) + "; tried";
  if (transports_.empty()) text += " none: no btl is in use (see parameter btl)";
  for (const std::string& reason : peer.refused) text += "\n  " + reason;
  log::error(text);
  return false;
}

}  // namespace starling::pml

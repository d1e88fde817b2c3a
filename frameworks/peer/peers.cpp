// SPDX-License-Identifier: BSD-3-Clause
// What the transports deliver, and what each pass of the process does. What is hard: a loss may be reported
// from within a send, so on_peer_lost() only closes the fast path, and progress() does the rest when nothing
// is in anybody's hands.
#include "frameworks/peer/peers.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "core/worlds.hpp"

namespace starling::peer {
namespace {

/// How long a process polls for an address that is not there yet before it may sleep.
constexpr std::uint64_t kHopeNs = 20'000'000;

}  // namespace

Result<void> Peers::set_front(Front& front, std::span<const KindFacts> kinds, const PathChoice& paths) {
  expects(front_ == nullptr, "a second front");
  if (Result<void> added = ports_.add(front, kinds); !added) return added;
  front_ = &front;
  table_.set_front(&front, paths);
  return {};
}

void Peers::remove_front() noexcept {
  if (front_ == nullptr) return;
  ports_.remove(*front_);
  outbox_.clear();
  gone_ = {};
  restless_ = false;
  front_ = nullptr;
  table_.set_front(nullptr, {});
}

Result<void> Peers::add(Port& port, std::span<const KindFacts> kinds) { return ports_.add(port, kinds); }

void Peers::add_transport(btl::Component& transport) {
  table_.add_transport(transport);
  if (transport.limits().idle_passes > 1) rare_.push_back({&transport});
}

Peer& Peers::adopt(btl::Origin& from) {
  Peer& peer = table_.peer(from.proc);
  from.cookie = &peer;
  if (peer.contact->keeper == nullptr) peer.contact->keeper = from.keeper;
  peer.heard_of = true;
  return peer;
}

void Peers::deliver(btl::Origin& from, std::span<const std::byte> message) noexcept {
  Peer& peer = from.cookie != nullptr ? *static_cast<Peer*>(from.cookie) : adopt(from);
  wire::Prefix prefix;
  if (!wire::read(message, prefix)) return notes_.malformed(peer, "it is shorter than any header");
  if (Port* const port = ports_.of(static_cast<std::uint8_t>(prefix.kind)))
    return port->receive(peer, message);
  switch (prefix.kind) {
    case wire::Kind::numbered: return on_numbered(from, peer, message);
    case wire::Kind::passed: return on_passed(peer, message);
    default: notes_.malformed(peer, "its kind is unknown");
  }
}

std::optional<std::span<const std::byte>> Peers::payload(Peer& from,
                                                         std::span<const std::byte> message) noexcept {
  wire::Prefix prefix;
  if (!wire::read(message, prefix) || message.size() - sizeof prefix < prefix.length) {
    notes_.malformed(from, "it is shorter than it says");
    return std::nullopt;
  }
  return message.subspan(sizeof prefix, prefix.length);
}

void Peers::on_numbered(btl::Origin& from, Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Numbered header;
  if (!wire::read(message, header) || message.size() == sizeof header ||
      static_cast<wire::Kind>(message[sizeof header]) == wire::Kind::numbered) {
    return notes_.malformed(peer, "a number without a message");
  }
  const auto inner = message.subspan(sizeof header);
  if (header.number == 0) return front_->on_message(from, inner);
  if (peer.reorder == nullptr) peer.reorder = std::make_unique<Reorder>();
  switch (peer.reorder->offer(header.number, inner)) {
    case Reorder::Place::refused: return notes_.malformed(peer, "its number is out of turn");
    case Reorder::Place::held: ++held_back_; return;
    case Reorder::Place::next: break;
  }
  front_->on_message(from, inner);
  while (const auto next = peer.reorder->take()) front_->on_message(from, *next);
  if (!peer.reorder->tell()) return;
  const wire::Numbered passed{{wire::Kind::passed, 0, 0, 0}, peer.reorder->taken()};
  outbox_.answer(peer, wire::bytes_of(passed));
}

void Peers::on_passed(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Numbered header;
  if (!wire::read(message, header) || peer.paths == nullptr) {
    return notes_.malformed(peer, "it counts messages that were not numbered");
  }
  peer.paths->passed(header.number);
}

Result<void> Peers::connect(const ProcList& procs) {
  for (std::uint32_t index = 0; index < procs.size(); ++index) {
    Peer& peer = table_.peer(procs.at(index));
    const Contact contact = table_.connect(peer);
    if (contact == Contact::later)
      outbox_.mark_busy(peer);  // progress makes it as soon as its address is there
    if (contact != Contact::none) continue;
    std::string reasons;
    for (const std::string& reason : peer.contact->refused) reasons += "\n  " + reason;
    return fail(Errc::unsupported, "peers: connect", "no transport reaches " + text_of(peer.proc) + reasons);
  }
  return {};
}

Result<void> Peers::send(ProcId to, std::uint8_t kind, std::span<const std::byte> payload) {
  const Port* const port = ports_.of(kind);
  const std::string name = port != nullptr ? std::string(port->name()) : "kind " + std::to_string(kind);
  const std::string where = name + ": message to " + text_of(to);
  Peer& peer = table_.peer(to);
  const Contact contact = table_.connect(peer);
  const bool fits = contact != Contact::made ||
                    payload.size() + sizeof(wire::Prefix) <= peer.transport->limits().message_max_bytes;
  if (payload.size() > wire::kPayloadLongMax || (payload.size() > wire::kPayloadMax && !fits)) {
    return fail(Errc::internal, where, std::to_string(payload.size()) + " bytes are too many");
  }
  if (contact == Contact::none) {
    if (peer.state == State::lost) return fail(Errc::peer_lost, where, "the process is gone");
    return fail(Errc::unsupported, where, "no transport reaches it");
  }
  front_->send(peer, kind, payload);
  return {};
}

void Peers::on_peer_lost(ProcId proc, const Error& why) noexcept {
  Peer& peer = table_.peer(proc);
  if (peer.state == State::lost) return;
  peer.left = why.code == Errc::peer_left;
  peer.contact->refused.clear();
  // It may live, or it lives and there is no room for what goes to it.
  if (why.code == Errc::unreachable || why.code == Errc::no_space) {
    if (why.code == Errc::unreachable) peer.contact->refused.push_back(why.text());
    log::error(text_of(proc) + " cannot be reached any more: " + why.text());
  }
  if (!peer.left) notes_.add(proc, " is lost: ", why.text());
  outbox_.lost(peer, peer.left                    ? Fault::peer_left
                     : why.code == Errc::no_space ? Fault::no_memory
                                                  : Fault::peer_lost);
}

void Peers::lose(Peer& peer) noexcept {
  outbox_.drop(peer);
  for (Port* const port : ports_.all()) port->lose(peer);
  peer.endpoint = nullptr;
  if (front_->waiting(peer)) outbox_.mark_busy(peer);  // a get in flight
  gone_.push(peer);
}

std::optional<ProcId> Peers::dead_among(const ProcList& members) const noexcept {
  for (const Peer* peer = gone_.top(); peer != nullptr; peer = LostPeers::after(*peer)) {
    if (!peer->left && members.find(peer->proc)) return peer->proc;
  }
  return std::nullopt;
}

int Peers::progress() noexcept {
  int events = 0;
  for (btl::Component* transport : table_.polled()) events += transport->progress();
  if (!rare_.empty()) [[unlikely]]
    events += poll_rare();
  if (!outbox_.busy().empty() || outbox_.any_lost() || restless_) [[unlikely]]
    events += push();
  return events;
}

int Peers::poll_rare() noexcept {
  constexpr std::uint32_t kLively = 256;
  int events = 0;
  bool active = false;
  for (Rare& rare : rare_) {
    if (--rare.passes_left != 0) continue;
    const int found = rare.transport->progress();
    events += found;
    if (found != 0) {
      rare.lively = kLively;
    } else if (rare.lively != 0) {
      --rare.lively;
    }
    active |= rare.lively != 0;
    rare.passes_left = rare.lively != 0 ? 1 : rare.transport->limits().idle_passes;
  }
  table_.set_network_active(active);
  return events;
}

/// Asks again for the address of a peer that something waits for.
void Peers::await_contact(Peer& peer) noexcept {
  if (table_.connect(peer) != Contact::none) return;
  outbox_.drop(peer);
  front_->on_no_contact(peer);
}

int Peers::push() noexcept {
  int events = 0;
  while (Peer* const peer = outbox_.take_lost()) {
    lose(*peer);
    ++events;
  }
  BusyPeers list = outbox_.take_busy();
  // What is short and what others wait for first, of all peers; then the data, whose copies take longer.
  for (Peer* peer = list.top(); peer != nullptr; peer = BusyPeers::after(*peer)) {
    if (peer->state == State::awaited) await_contact(*peer);
    if (peer->state != State::connected) continue;
    // What is decided is answered in this pass.
    events += front_->decide(*peer);
    events += outbox_.push(*peer);
    events += front_->push(*peer);
  }
  while (Peer* const peer = list.pop()) {
    peer->busy = false;
    const bool dealt_with = peer->state == State::lost && peer->endpoint == nullptr;
    if (peer->state == State::connected || dealt_with) events += front_->push_data(*peer);
    if (!peer->answers.empty() || front_->waiting(*peer) || peer->state == State::awaited)
      outbox_.mark_busy(*peer);
  }
  if (restless_) events += front_->look();
  return events;
}

bool Peers::may_sleep() noexcept {
  if (outbox_.any_lost()) return false;
  bool rung = true;
  for (const Peer* peer = outbox_.busy().top(); peer != nullptr; peer = BusyPeers::after(*peer)) {
    // An address that others are about to publish comes soon or late; after a while the sleep's limit is the
    // pause between two questions.
    if (peer->state == State::awaited && now_ns() - peer->contact->asked_ns > kHopeNs) continue;
    if (front_->needs_passes(*peer)) return false;
    rung = peer->endpoint != nullptr && peer->endpoint->await_room() && rung;
  }
  return rung;
}

bool Peers::drained() const noexcept {
  if (!outbox_.busy().empty() || !front_->drained()) return false;
  const auto& transports = table_.transports();
  return std::all_of(transports.begin(), transports.end(),
                     [](const btl::Component* transport) { return transport->drained(); });
}

void Peers::set_idle(bool idle) noexcept {
  if (idle) table_.make_ways_back();
  for (btl::Component* const transport : table_.transports()) transport->set_idle(idle);
}

Peers::Counters Peers::counters() const {
  Counters counters;
  counters.peers = table_.size();
  counters.notes = notes_.all();
  std::map<std::string_view, std::uint32_t> reached_by;
  table_.each([&](const Peer& peer) {
    if (peer.paths != nullptr) ++reached_by[peer.paths->name()];
  });
  for (const auto& [paths, peers] : reached_by) {
    counters.notes.push_back("several paths: " + std::string(paths) + " to " + std::to_string(peers) +
                             " processes (pml_paths)");
  }
  if (held_back_ != 0) {
    counters.notes.push_back("several paths: " + std::to_string(held_back_) +
                             " messages came too early and were put back in order");
  }
  counters.notes.insert(counters.notes.end(), table_.notes().begin(), table_.notes().end());
  return counters;
}

}  // namespace starling::peer

// SPDX-License-Identifier: BSD-3-Clause
// The calls that are not hot, and what progress() does besides polling.
#include "frameworks/pml/engine.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "frameworks/pml/get.hpp"
#include "frameworks/pml/lend.hpp"
#include "frameworks/pml/ring.hpp"

namespace starling::pml {

using namespace detail;

namespace {

/// How long a process polls for an address that is not there yet before it may sleep.
constexpr std::uint64_t kHopeNs = 20'000'000;

}  // namespace

Protocols standard_protocols(const Config& config) {
  Protocols protocols;
  protocols.push_back(std::make_unique<Ring>(config.fragments_per_push));
  protocols.push_back(std::make_unique<Get>(config.get_chunk_bytes));
  protocols.push_back(std::make_unique<Lend>(config.loans, config.fragments_per_push));
  return protocols;
}

std::int64_t credit_window(const Config& config) noexcept {
  // Above 4096 processes the floor of 16 KiB wins: a smaller window would turn ordinary traffic into
  // rendezvous.
  const std::uint64_t share = config.unexpected_max / std::max<std::uint64_t>(config.world_size, 1);
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(share, 16 * 1024, 1024 * 1024));
}

std::uint32_t announced_max(const Config& config) noexcept {
  if (config.announced_max != 0) return config.announced_max;
  return static_cast<std::uint32_t>(credit_window(config) / cost_of(0));
}

Engine::Engine(const Config& config, std::unique_ptr<Chooser> chooser, Protocols protocols)
    : peers_({config.eager_limit, credit_window(config), config.paths_max, config.path_use}),
      outbox_(peers_, notes_),
      matcher_(peers_, notes_),
      eager_(outbox_, transfers_),
      rendezvous_(peers_, outbox_, transfers_, notes_, std::move(chooser), std::move(protocols)),
      sends_(peers_, outbox_, eager_, rendezvous_, pml::announced_max(config)),
      holders_(matcher_, outbox_),
      self_(config.self) {}

void Engine::add_transport(btl::Component& transport) {
  peers_.add_transport(transport);
  if (transport.limits().idle_passes > 1) rare_.push_back({&transport});
}

Result<Context*> Engine::open(ContextId id, Rank my_rank, ProcListPtr ranks) {
  return matcher_.open(id, my_rank, std::move(ranks));
}

void Engine::close(Context* context) noexcept {
  matcher_.close(
      *context, [](Request& request) { complete_receive(request, 0, Fault::none, true); },
      [this](Peer& peer, const Arrival& arrival) { refuse(peer, arrival); });
}

Result<void> Engine::add_procs(const ProcList& procs) {
  for (std::uint32_t index = 0; index < procs.size(); ++index) {
    Peer& peer = peers_.peer(procs.at(index));
    const Contact contact = peers_.connect(peer);
    if (contact == Contact::later)
      outbox_.mark_busy(peer);  // progress makes it as soon as its address is there
    if (contact != Contact::none) continue;
    std::string reasons;
    for (const std::string& reason : peer.refused) reasons += "\n  " + reason;
    return fail(Errc::unsupported, "pml: add_procs",
                "no transport reaches rank " + std::to_string(peer.proc.rank) + reasons);
  }
  return {};
}

Result<void> Engine::send_control(ProcId to, std::span<const std::byte> message) {
  return sends_.send_control(to, message);
}

void Engine::cancel(Request& request) noexcept {
  if (request.complete.load(std::memory_order_relaxed)) return;
  if (!request.receive) return sends_.cancel(request);
  if (request.phase != kPosted) return;
  if (request.rank == kAnySource) {
    request.context->any_source.remove(request);
  } else {
    request.context->touched(request.rank)->posted.remove(request);
  }
  complete_receive(request, 0, Fault::none, true);
}

bool Engine::probe(Context& context, Rank source, Tag tag, Status* status) noexcept {
  const Message* const message = find_unexpected(context, source, tag);
  if (message == nullptr) {
    if (holders_.any()) holders_.probed_in_vain(context, source);
    return false;
  }
  if (status != nullptr) *status = {message->rank, message->tag, Fault::none, false, message->length};
  return true;
}

Message* Engine::mprobe(Context& context, Rank source, Tag tag, Status* status) noexcept {
  if (!probe(context, source, tag, status)) return nullptr;
  Message* const message = matcher_.take(context, source, tag);
  matcher_.set_aside(*message);
  return message;
}

void Engine::mrecv(Message* message, Request& request) noexcept {
  matcher_.take_back(*message);
  request.receive = true;
  request.flags = 0;
  match_kept(request, *message);
}

int Engine::poll_rare() noexcept {
  constexpr std::uint32_t kLively = 256;
  int events = 0;
  for (Rare& rare : rare_) {
    if (--rare.passes_left != 0) continue;
    const int found = rare.transport->progress();
    events += found;
    if (found != 0) {
      rare.lively = kLively;
    } else if (rare.lively != 0) {
      --rare.lively;
    }
    rare.passes_left = rare.lively != 0 ? 1 : rare.transport->limits().idle_passes;
  }
  return events;
}

/// Asks again for the address of a peer that something waits for.
void Engine::await_contact(Peer& peer) noexcept {
  if (peers_.connect(peer) != Contact::none) return;
  outbox_.drop(peer);
  sends_.drop(peer, fault_of(peer));
}

int Engine::push() noexcept {
  int events = 0;
  while (Peer* const peer = outbox_.take_lost()) {
    lose(*peer);
    ++events;
  }
  Peer* list = outbox_.take_busy();
  // What is short and what others wait for first, of all peers; then the data, whose copies take longer.
  for (Peer* peer = list; peer != nullptr; peer = peer->next_busy) {
    if (peer->state == PeerState::awaited) await_contact(*peer);
    if (peer->state != PeerState::connected) continue;
    events += rendezvous_.decide(*peer) + outbox_.push(*peer) + sends_.push(*peer);
  }
  while (list != nullptr) {
    Peer& peer = *list;
    list = peer.next_busy;
    peer.busy = false;
    const bool dealt_with = peer.state == PeerState::lost && peer.endpoint == nullptr;
    if (peer.state == PeerState::connected || dealt_with) events += rendezvous_.push(peer);
    const bool goes_on =
        dealt_with ? peer.large.waiting() : peer.waiting() || peer.state == PeerState::awaited;
    if (goes_on) outbox_.mark_busy(peer);
  }
  if (holders_.any()) events += holders_.ask();
  return events;
}

bool Engine::may_sleep() noexcept {
  if (outbox_.any_lost()) return false;
  bool rung = true;
  for (const Peer* peer = outbox_.busy(); peer != nullptr; peer = peer->next_busy) {
    // An address that others are about to publish comes soon or late; after a while the sleep's limit is the
    // pause between two questions.
    if (peer->state == PeerState::awaited && now_ns() - peer->asked_ns > kHopeNs) continue;
    if (rendezvous_.needs_passes(*peer)) return false;
    rung = peer->endpoint != nullptr && peer->endpoint->await_room() && rung;
  }
  return rung;
}

void Engine::set_idle(bool idle) noexcept {
  if (idle) peers_.make_ways_back();
  for (btl::Component* const transport : peers_.transports()) transport->set_idle(idle);
}

}  // namespace starling::pml

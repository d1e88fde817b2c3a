// SPDX-License-Identifier: BSD-3-Clause
// What progress() does besides polling: pushes what waits, steps gets, and deals with lost peers.
// What is hard: a loss may be reported from within a send of ours, so on_peer_lost() only closes the fast
// path and the rest happens here, when no request is in anybody's hands.
#include <algorithm>
#include <utility>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

namespace {

/// How long a process polls for an address that is not there yet before it may sleep.
constexpr std::uint64_t kHopeNs = 20'000'000;

}  // namespace

void Engine::mark_busy(Peer& peer) noexcept {
  if (peer.busy) return;
  peer.busy = true;
  peer.next_busy = busy_;
  busy_ = &peer;
}

void Engine::add_transport(btl::Component& transport) {
  peers_.add_transport(transport);
  if (transport.limits().idle_passes > 1) rare_.push_back({&transport});
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

/// Asks again for the address of a peer that something waits for. True: it is connected now.
bool Engine::await_contact(Peer& peer) noexcept {
  if (peer.state != PeerState::awaited) return false;
  switch (peers_.connect(peer)) {
    case Contact::made: return true;
    case Contact::later: mark_busy(peer); return false;
    case Contact::none: drop_sends(peer, Fault::unreachable); return false;
  }
  return false;
}

bool Engine::may_sleep() noexcept {
  if (!gets_.empty() || !lost_.empty()) return false;
  bool rung = true;
  for (const Peer* peer = busy_; peer != nullptr; peer = peer->next_busy) {
    // An address that others are about to publish comes soon or late; after a while the sleep's limit is the
    // pause between two questions.
    if (peer->state == PeerState::awaited && now_ns() - peer->asked_ns > kHopeNs) continue;
    rung = peer->endpoint != nullptr && peer->endpoint->await_room() && rung;
  }
  return rung;
}

int Engine::push() noexcept {
  int events = 0;
  while (!lost_.empty()) {
    Peer* const peer = lost_.back();
    lost_.pop_back();
    lose(*peer);
    ++events;
  }
  Peer* list = std::exchange(busy_, nullptr);
  while (list != nullptr) {
    Peer& peer = *list;
    list = peer.next_busy;
    peer.busy = false;
    if (peer.state != PeerState::connected && !await_contact(peer)) continue;
    events += decide(peer) + push_answers(peer) + push_fifo(peer);
    if (peer.holds_back()) events += push_held(peer);
    events += push_data(peer);
    if (peer.waiting()) mark_busy(peer);
  }
  if (!gets_.empty()) events += step_gets();
  if (!holders_.empty()) events += ask_for_more();
  return events;
}

int Engine::push_answers(Peer& peer) noexcept {
  int events = 0;
  while (peer.answers_sent < peer.answers.size()) {
    const Answered next =
        peer.answers[peer.answers_sent];  // a copy: the send may add another and move the vector
    if (peer.endpoint->send({next.message, next.bytes}, {}) == Post::again) break;
    ++peer.answers_sent;
    ++events;
  }
  if (peer.answers_sent == peer.answers.size()) {
    peer.answers.clear();
    peer.answers_sent = 0;
  } else if (peer.answers_sent >= 1024) {
    peer.answers.erase(peer.answers.begin(),
                       peer.answers.begin() + static_cast<std::ptrdiff_t>(peer.answers_sent));
    peer.answers_sent = 0;
  }
  return events;
}

int Engine::push_fifo(Peer& peer) noexcept {
  int events = 0;
  // Taken off first: start() may complete a request, and then it is the caller's again.
  while (Request* request = peer.fifo.pop_front()) {
    if (!start(*request)) {
      peer.fifo.push_front(*request);
      break;
    }
    ++events;
  }
  peer.update_fast_path();
  return events;
}

Post Engine::put_data(Peer& peer, const Request& request, std::size_t bytes) noexcept {
  wire::DataAt header{{{wire::Kind::data, 0, 0, static_cast<std::uint32_t>(bytes)}, request.remote},
                      request.moved};
  std::size_t header_bytes = sizeof(wire::Data);
  if (peer.paths != nullptr) {
    header.data.prefix.kind = wire::Kind::data_at;
    header_bytes = sizeof header;
  }
  return put(*peer.endpoint, wire::bytes_of(header).first(header_bytes), request.buffer, request.moved,
             bytes);
}

int Engine::push_data(Peer& peer) noexcept {
  int events = 0;
  // In turns: the borrower holds the pipe's lock while it copies, and who lends meanwhile waits for it.
  const bool our_turn = peer.lender == nullptr || peer.lender->unread == 0;
  for (std::uint32_t sent = 0; sent < config_.fragments_per_push; ++sent) {
    Request* const request = peer.pushing.front();
    if (request == nullptr) break;
    if ((request->flags & kLending) != 0) {
      if (!our_turn || !push_loan(peer, *request)) break;
      ++events;
      continue;
    }
    const auto bytes = static_cast<std::size_t>(
        std::min<std::uint64_t>(peer.fragment_bytes, request->total - request->moved));
    if (put_data(peer, *request, bytes) == Post::again) break;
    ++events;
    request->moved += bytes;
    if (request->moved == request->total) {
      peer.pushing.remove(*request);
      finish_send(*request, Fault::none);
    }
  }
  return events;
}

/// One chunk further each, but of what is got from one peer only the oldest that is not in flight: what was
/// announced first ends first.
int Engine::step_gets() noexcept {
  int events = 0;
  ++get_pass_;
  std::size_t left = 0;
  for (std::size_t at = 0; at < gets_.size(); ++at) {
    Peer& peer = *gets_[at]->request->peer;
    const bool turn = peer.got_in_pass != get_pass_ || gets_[at]->in_flight;
    if (turn && step_get(*gets_[at], events)) continue;
    if (!gets_[at]->in_flight) peer.got_in_pass = get_pass_;
    if (left != at) gets_[left] = std::move(gets_[at]);
    ++left;
  }
  gets_.resize(left);
  return events;
}

/// One chunk further. True when the Get has done its part: the receive is complete, or goes on through the
/// ring.
bool Engine::step_get(Get& get, int& events) noexcept {
  Request& request = *get.request;
  Peer& peer = *request.peer;
  if (!get.in_flight && peer.state == PeerState::connected) {
    const std::size_t best = peer.transport->limits().get_bytes;
    get.asked = static_cast<std::size_t>(
        std::min(best != 0 ? best : config_.get_chunk_bytes, request.total - request.moved));
    get.in_flight = true;
    get.ended = false;
    const btl::RemoteBuffer from{request.address + request.moved, request.remote};
    const Post post = peer.endpoint->get(
        from, {static_cast<std::byte*>(request.buffer.base) + request.moved, get.asked}, &get);
    if (post == Post::again) get.in_flight = false;
    if (post == Post::done) get.ended = get.ok = true;
  }
  if (get.in_flight && !get.ended)
    return false;  // the transport still has our buffer, even if the peer is lost
  if (peer.state != PeerState::connected) {
    finish_receive(request, peer.fault);
    return true;
  }
  if (!get.in_flight) return false;
  get.in_flight = false;
  ++events;
  if (!get.ok) {
    peer.get_failed = true;
    counters_.notes.push_back("rank " + std::to_string(peer.proc.rank) +
                              ": a get failed, large messages go through the ring from now on");
    ask_for_data(request);
    return true;
  }
  request.moved += get.asked;
  if (request.moved < request.total) return false;
  answer(peer, wire::Kind::fin, request.remote, wire::kGot);
  finish_receive(request, Fault::none);
  return true;
}

void Engine::on_peer_lost(ProcId proc, const Error& why) noexcept {
  Peer& peer = peers_.peer(proc);
  if (peer.state == PeerState::lost) return;
  peer.state = PeerState::lost;
  peer.left = why.code == Errc::peer_left;
  if (peer.left) peer.fault = Fault::peer_left;
  peer.refused.clear();
  if (why.code == Errc::timed_out) {  // nothing leads to it any more, and it may live
    peer.refused.push_back(why.text());
    log::error("rank " + std::to_string(proc.rank) + " cannot be reached any more: " + why.text());
  }
  peer.fast_bytes = -1;
  if (why.code == Errc::no_space) {  // it lives, but there is no room for what goes to it
    peer.fault = Fault::no_memory;
    log::error("rank " + std::to_string(proc.rank) + " cannot be reached any more: " + why.text());
  }
  if (!peer.left) {
    counters_.notes.push_back("rank " + std::to_string(proc.rank) + " is lost: " + why.text());
  }
  lost_.push_back(&peer);
}

void Engine::set_idle(bool idle) noexcept {
  if (idle) peers_.make_ways_back();
  for (btl::Component* const transport : peers_.transports()) transport->set_idle(idle);
}

/// Ends what waits to be sent to a peer that cannot be reached.
void Engine::drop_sends(Peer& peer, Fault fault) noexcept {
  peer.answers.clear();
  peer.answers_sent = 0;
  while (Request* request = peer.fifo.pop_front()) {
    if (request->phase == kControl) {
      delete static_cast<ControlSend*>(request);
    } else {
      finish_send(*request, fault);
    }
  }
}

/// Completes whatever needs this peer (MPI_ERR_PROC_ABORTED). Receives with a wildcard source stay as long as
/// others may send.
void Engine::lose(Peer& peer) noexcept {
  peer.endpoint = nullptr;
  drop_sends(peer, peer.fault);
  drop_held(peer, peer.fault);
  while (peer.pushing.pop_front() != nullptr) {
  }
  while (peer.undecided.pop_front() != nullptr) {
  }
  peer.lender.reset();
  peer.borrower.reset();
  transfers_.each([&](Request& request) {
    if (request.peer != &peer || request.phase == kGetting) return;
    if (request.receive) {
      finish_receive(request, peer.fault);
    } else {
      finish_send(request, peer.fault);
    }
  });
  contexts_.each([&](Context& context) { lose(context, peer); });
  gone_.push_back(&peer);
}

void Engine::lose(Context& context, const Peer& peer) noexcept {
  const auto found = context.ranks().find(peer.proc);
  if (!found) return;
  const Rank rank{static_cast<std::int32_t>(*found)};
  const auto end_all = [&](RequestChain& posted) {
    while (Request* request = posted.pop_front()) {
      request->order = 0;
      request->status.source = rank;
      finish_receive(*request, peer.fault);
    }
  };
  if (Source* const source = context.touched(rank)) end_all(source->posted);
  if (!context.any_source.empty() && nobody_left(context)) end_all(context.any_source);
  // A collective needs every member. Whoever got the error is not coming to it any more, so that others would
  // wait for the living, too.
  if (peer.left || context.id().channel() != Channel::collective) return;
  context.each_source([&](Source& source) { end_all(source.posted); });
  transfers_.each([&](Request& request) {
    if (request.context != &context || request.receive || request.phase != kAnnounced) return;
    request.status.source = rank;
    cancel_send(request);
  });
  cancel_held(context, rank);
}

/// Whether no other process of the context could send any more.
bool Engine::nobody_left(const Context& context) const noexcept {
  for (std::uint32_t rank = 0; rank < context.size(); ++rank) {
    const ProcId proc = context.ranks().at(rank);
    const Peer* const peer = proc == config_.self ? nullptr : peers_.find(proc);
    if (proc != config_.self && (peer == nullptr || peer->state != PeerState::lost)) return false;
  }
  return true;
}

bool Engine::lost(const Context& context, Rank source) const noexcept {
  if (gone_.empty()) return false;
  if (source == kAnySource) return nobody_left(context);
  const Peer* const peer = peers_.find(context.ranks().at(static_cast<std::uint32_t>(to_int(source))));
  return peer != nullptr && peer->state == PeerState::lost;
}

std::optional<ProcId> Engine::dead_among(const ProcList& members) const noexcept {
  for (const Peer* const peer : gone_) {
    if (!peer->left && members.find(peer->proc)) return peer->proc;
  }
  return std::nullopt;
}

/// What was posted since: receives from the living in collectives with the dead, and wildcards.
void Engine::look_for_hopeless() noexcept {
  for (const Peer* peer : gone_) {
    contexts_.each([&](Context& context) {
      if (!peer->left || !context.any_source.empty()) lose(context, *peer);
    });
  }
}

}  // namespace starling::pml

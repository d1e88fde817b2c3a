// SPDX-License-Identifier: BSD-3-Clause
// What ends with a peer that is lost.
#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

/// Completes whatever needs this peer (MPI_ERR_PROC_ABORTED). Receives with a wildcard source stay as long as
/// others may send. Receives of the program's from who has left in order stay, too: it may only test them,
/// and cancel them in the end. A call that waits for one gives it up (hopeless()).
void Engine::lose(peer::Peer& lost) noexcept {
  Peer& peer = own(lost);
  sends_.drop(peer, peer.fault);
  holders_.forget(peer);
  parts_.lose(peer);
  rendezvous_.lose(peer);
  grants_.lose(peer);
  early_.lose(peer);
  peer.receives_apart = true;
  matcher_.each_context([&](Context& context) { lose(context, peer); });
}

void Engine::lose(Context& context, const Peer& peer) noexcept {
  if (keeps_receives(context, peer)) return;
  const auto found = context.ranks().find(peer.proc);
  if (!found) return;
  const Rank rank{static_cast<std::int32_t>(*found)};
  const auto end_all = [&](RequestChain& posted) {
    while (Request* request = posted.pop_front()) {
      request->status.source = rank;
      complete_receive(*request, 0, peer.fault);
    }
  };
  if (Source* const source = context.touched(rank)) end_all(source->posted);
  if (!context.any_source.empty() && end_of_others(context) != Fault::none) end_all(context.any_source);
  // A collective needs every member. Members that got the error leave the collective, so the others would
  // wait for them: end these receives too.
  if (peer.left || context.id().channel() != Channel::collective) return;
  context.each_source([&](Source& source) { end_all(source.posted); });
  transfers_.each([&](Transfer& transfer) {
    Request& request = *transfer.request;
    if (request.context != &context || request.receive || request.phase != kAnnounced) return;
    request.status.source = rank;
    sends_.cancel(request);
  });
  sends_.cancel_held(context, rank);
}

/// Why no other process of the context can send any more; none: one may, or there is no other one.
Fault Engine::end_of_others(const Context& context) const noexcept {
  Fault why = Fault::none;
  for (std::uint32_t rank = 0; rank < context.size(); ++rank) {
    const ProcId proc = context.ranks().at(rank);
    if (proc == self_) continue;
    const Peer* const peer = peers_.find(proc);
    if (peer == nullptr || peer->state != PeerState::lost) return Fault::none;
    if (why == Fault::none || why == Fault::peer_left) why = peer->fault;
  }
  return why;
}

Fault Engine::lost(const Context& context, Rank source) const noexcept {
  if (!all_.any_gone()) return Fault::none;
  if (source == kAnySource) return end_of_others(context);
  const Peer* const peer = peers_.find(context.ranks().at(static_cast<std::uint32_t>(to_int(source))));
  return peer != nullptr && peer->state == PeerState::lost ? peer->fault : Fault::none;
}

bool Engine::hopeless(const Request& request) const noexcept {
  return request.receive && request.phase == kPosted &&
         lost(*request.context, request.rank) == Fault::peer_left;
}

void Engine::give_up(Request& request) noexcept {
  early_.end(request);
  withdraw(request);
  request.status.source = request.rank;
  complete_receive(request, 0, Fault::peer_left);
}

/// What was posted since: receives from the living in collectives with the dead, and wildcards.
void Engine::lose_what_came_later() noexcept {
  all_.each_gone([this](const peer::Peer& lost) {
    const Peer& peer = own(lost);
    matcher_.each_context([&](Context& context) {
      if (!peer.left || !context.any_source.empty()) lose(context, peer);
    });
  });
}

}  // namespace starling::pml

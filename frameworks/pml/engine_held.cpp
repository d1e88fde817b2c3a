// SPDX-License-Identifier: BSD-3-Clause
// Announcements beyond what a receiver keeps wait at their sender. What is hard: a receiver may want the last
// of them first, so whoever waits for a message asks on; and nothing may overtake within a context. Whoever
// holds back has told so, and whoever has been told asks as soon as it wants more: see docs/design/pml.md,
// "Bounded memory".
#include <algorithm>

#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

std::uint32_t announced_max(const Config& config) noexcept {
  if (config.announced_max != 0) return config.announced_max;
  return static_cast<std::uint32_t>(credit_window(config) / cost_of(0));
}

void Engine::hold_back(Request& request) {
  Peer& peer = *request.peer;
  if (peer.held == nullptr) peer.held = std::make_unique<HeldBack>();
  peer.held->add(request.context->id(), request);
  request.phase = kHeld;
  ++held_now_;
  ++held_ever_;
  peer.update_fast_path();
  mark_busy(peer);  // the receiver is told once everything older has left
}

void Engine::not_announced_any_more(Request& request) noexcept {
  if ((request.flags & kCounted) == 0) return;
  request.flags &= ~kCounted;
  --request.peer->announced;
  if (request.peer->holds_back()) mark_busy(*request.peer);
}

bool Engine::may_go(const Peer& peer, const HeldBack::Line& line) const noexcept {
  return peer.announced < announced_max_ || line.allowance != 0 || goes_eagerly(peer, *line.sends.front());
}

/// Only while nothing else waits for the transport: so at most one of a line is in the FIFO, in front of
/// whatever else of its context is there.
int Engine::push_held(Peer& peer) noexcept {
  int events = 0;
  HeldBack& held = *peer.held;
  for (std::size_t at = 0; at < held.size() && peer.fifo.empty(); ++at) {
    HeldBack::Line& line = held.at(at);
    while (!line.sends.empty() && may_go(peer, line)) {
      Request& request = *line.sends.front();
      if (peer.announced >= announced_max_ && !goes_eagerly(peer, request)) --line.allowance;
      line.sends.remove(request);
      --held_now_;
      request.phase = kQueued;
      request.flags |= kReleased;
      if (!start(request)) {
        enqueue(peer, request);
        break;
      }
      ++events;
    }
    if (line.sends.empty() || line.told || !peer.fifo.empty()) continue;
    line.told = true;
    answer(peer, wire::bytes_of(envelope(*line.sends.front(), wire::Kind::held)));
  }
  held.erase_empty();
  peer.update_fast_path();
  return events;
}

void Engine::on_go_on(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Envelope header;
  if (!wire::read(message, header)) {
    malformed(peer, "a request for more is shorter than its header");
    return;
  }
  HeldBack::Line* const line = peer.held != nullptr ? peer.held->find(ContextId{header.context}) : nullptr;
  if (line == nullptr) return;  // all has been announced meanwhile
  line->told = false;
  if (peer.announced >= announced_max_) line->allowance = std::max(announced_max_ / 4, 1u);
  mark_busy(peer);
}

void Engine::on_held(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Envelope header;
  if (!wire::read(message, header)) {
    malformed(peer, "a note about held messages is shorter than its header");
    return;
  }
  const ContextId id{header.context};
  Context* const context = contexts_.find(id);
  if (context != nullptr && source_of(peer, *context, header) == nullptr) return;
  const auto same = [&](const Holder& holder) { return holder.peer == &peer && holder.context == id; };
  if (std::any_of(holders_.begin(), holders_.end(), same)) return;
  holders_.push_back({&peer, id, Rank{header.source}});
}

/// Whether something waits here that a held message could match. A context that is closed wants all of them,
/// to refuse them.
bool Engine::wanted(const Holder& holder) noexcept {
  const Context* const context = contexts_.find(holder.context);
  if (context == nullptr) return contexts_.closed(holder.context);
  const Source* const source = context->touched(holder.rank);
  return !context->any_source.empty() || (source != nullptr && !source->posted.empty());
}

/// `asked` says for which holders to ask.
template <class Asked>
int Engine::ask_on(Asked asked) noexcept {
  int events = 0;
  for (std::size_t at = 0; at < holders_.size();) {
    const Holder holder = holders_[at];
    if (!asked(holder)) {
      ++at;
      continue;
    }
    holders_[at] = holders_.back();
    holders_.pop_back();
    const wire::Envelope header{{wire::Kind::go_on, 0, 0, 0}, holder.context.bits, 0, 0};
    answer(*holder.peer, wire::bytes_of(header));
    ++events;
  }
  return events;
}

int Engine::ask_for_more() noexcept {
  return ask_on([this](const Holder& holder) { return wanted(holder); });
}

void Engine::probed_in_vain(const Context& context, Rank source) noexcept {
  (void)ask_on([&](const Holder& holder) {
    return holder.context == context.id() && (source == kAnySource || source == holder.rank);
  });
}

/// Ends what is held back for this context with the death of `rank`: its receivers are not coming to it.
void Engine::cancel_held(const Context& context, Rank rank) noexcept {
  if (held_now_ == 0) return;
  peers_.each([&](Peer& peer) {
    while (HeldBack::Line* const line = peer.held != nullptr ? peer.held->find(context.id()) : nullptr) {
      Request& request = *line->sends.front();
      request.status.source = rank;
      cancel_send(request);
    }
  });
}

void Engine::drop_held(Peer& peer, Fault fault) noexcept {
  std::erase_if(holders_, [&](const Holder& holder) { return holder.peer == &peer; });
  if (peer.held == nullptr) return;
  peer.held->each([&](HeldBack::Line& line) {
    while (Request* request = line.sends.pop_front()) {
      --held_now_;
      finish_send(*request, fault);
    }
  });
  peer.held->erase_empty();
}

}  // namespace starling::pml

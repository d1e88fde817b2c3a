// SPDX-License-Identifier: BSD-3-Clause
// Counters, and what hang help prints.
#include <string_view>

#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

namespace {

void add_notes(std::vector<std::string>& notes, const Early::Counters& early) {
  if (early.pushed != 0) {
    notes.push_back(std::to_string(early.pushed) + " messages of " + std::to_string(early.bytes) +
                    " bytes were written to receives that waited for them");
  }
  if (early.invited == 0) return;
  notes.push_back("senders were told of " + std::to_string(early.invited) +
                  " receives that waited, and wrote to " + std::to_string(early.taken) + "; " +
                  std::to_string(early.withdrawn) + " were cancelled");
}

}  // namespace

Component::Counters Engine::counters() const {
  Counters counters;
  counters.rendezvous_sent = rendezvous_.announced_ever();
  counters.unexpected = matcher_.counters().unexpected;
  counters.unexpected_bytes = matcher_.counters().bytes;
  counters.unexpected_bytes_max = matcher_.counters().bytes_max;
  peers_.each([&](const Peer& peer) {
    counters.eager_sent += peer.eager_sent;
    counters.credit_stalls += peer.slow_sent.stalls;
  });
  if (sends_.held_ever() != 0) {
    counters.notes.push_back(
        std::to_string(sends_.held_ever()) + " messages waited here because their receivers had " +
        std::to_string(sends_.announced_max()) + " of ours announced and unmatched (pml_unexpected_max)");
  }
  const Grants::Counters& pushes = grants_.counters();
  if (pushes.pushed != 0) {
    counters.notes.push_back(std::to_string(pushes.pushed) + " messages of " + std::to_string(pushes.bytes) +
                             " bytes were written into buffers that their receivers had granted");
  }
  if (pushes.adopted + pushes.copied != 0) {
    counters.notes.push_back(std::to_string(pushes.adopted) +
                             " messages were received where their senders had "
                             "written them, and " +
                             std::to_string(pushes.copied) + " copied from there");
  }
  placer_.add_notes(counters.notes);
  add_notes(counters.notes, early_.counters());
  const std::vector<std::string> notes = rendezvous_.notes();
  counters.notes.insert(counters.notes.end(), notes.begin(), notes.end());
  return counters;
}

std::vector<PeerTraffic> Engine::traffic() const {
  std::vector<PeerTraffic> all;
  peers_.each([&](const Peer& peer) {
    if (peer.transport == nullptr) return;
    const std::string_view name = peer.paths != nullptr ? peer.paths->name() : peer.transport->name();
    all.push_back({peer.proc, name, peer.slow_sent});
    all.back().sent.eager = {peer.eager_sent, peer.eager_bytes_sent};
  });
  return all;
}

namespace {

const char* stage(const Request& request) {
  switch (request.phase) {
    case kQueued: return "waits for room in the transport";
    case kAnnounced: return "not received yet";
    case kHeld: return "waits until the receiver has taken earlier ones";
    case kMoving: return "data are moving";
    default: return "";
  }
}

const char* stage_of_hopeless(const Request& receive) {
  return receive.rank == kAnySource ? "all others have left MPI and ended" : "it has left MPI and ended";
}

}  // namespace

/// Calls visit(Request&) for each message of the user's that is not complete, until it returns false.
template <class Visit>
void Engine::each_pending(Visit visit) const {
  bool going = true;
  const auto walk = [&](const RequestChain& chain, auto&& wanted) {
    for (Request* at = chain.front(); at != nullptr && going; at = RequestChain::after(*at)) {
      if (wanted(*at)) going = visit(*at);
    }
  };
  const auto all = [](const Request&) { return true; };
  matcher_.each_context([&](Context& context) {
    walk(context.any_source, all);
    context.each_source([&](Source& source) { walk(source.posted, all); });
  });
  // Those with an order are in transfers_ as well.
  const auto unannounced = [](const Request& request) {
    return request.phase != kOfPort && request.order == 0;
  };
  peers_.each([&](const Peer& peer) {
    walk(peer.fifo, unannounced);
    if (going && peer.parts_in.request != nullptr) going = visit(*peer.parts_in.request);
    if (peer.held == nullptr) return;
    peer.held->each([&](const HeldBack::Line& line) { walk(line.sends, unannounced); });
  });
  transfers_.each([&](Transfer& transfer) { going = going && visit(*transfer.request); });
}

std::vector<Pending> Engine::pending() const {
  std::vector<Pending> all;
  each_pending([&](const Request& request) {
    const ContextId id = request.context == nullptr ? ContextId{} : request.context->id();
    all.push_back({id, request.receive, request.rank, request.tag, request.buffer.bytes, request.started_ns,
                   hopeless(request) ? stage_of_hopeless(request) : stage(request)});
    return true;
  });
  return all;
}

void Engine::note_time(std::uint64_t now_ns) noexcept {
  if (all_.any_gone()) lose_what_came_later();
  // A program with a million receives need not pay for their ages while it waits.
  constexpr std::uint32_t kMost = 4096;
  std::uint32_t seen = 0;
  each_pending([&](Request& request) {
    if (request.started_ns == 0) request.started_ns = now_ns;
    return ++seen < kMost;
  });
}

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
// Contexts, unexpected and parked messages, and the receiver's half of the rendezvous.
// What is hard: whatever happens to an eager message (matched, dropped, cancelled), its credit goes back
// exactly once, when its memory has been given back; and whatever happens to an announced one, its sender
// gets exactly one answer.
#include <algorithm>
#include <cstring>
#include <new>

#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

std::int64_t credit_window(const Config& config) noexcept {
  // Above 4096 processes the floor of 16 KiB wins: a smaller window would turn ordinary traffic into
  // rendezvous.
  const std::uint64_t share = config.unexpected_max / std::max<std::uint64_t>(config.world_size, 1);
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(share, 16 * 1024, 1024 * 1024));
}

Engine::Engine(const Config& config, std::unique_ptr<LargePolicy> policy)
    : peers_({config.eager_limit, credit_window(config), config.paths_max, config.path_use}),
      config_(config),
      policy_(std::move(policy)),
      announced_max_(announced_max(config)) {}

Engine::~Engine() {
  contexts_.each([this](Context& context) {
    while (Message* message = context.arrivals.pop_front()) release(*message);
  });
  contexts_.each_parked([this](ContextId, ArrivalChain& messages) {
    while (Message* message = messages.pop_front()) release(*message);
  });
  while (Message* message = taken_.pop_front()) release(*message);
  peers_.each([](Peer& peer) {
    while (Request* request = peer.fifo.pop_front()) {
      if (request->phase == kControl) delete static_cast<ControlSend*>(request);
    }
  });
}

Source& Engine::touch(Context& context, Rank rank) {
  return context.touch(rank, peers_.peer(context.ranks().at(static_cast<std::uint32_t>(to_int(rank)))));
}

Result<Context*> Engine::open(ContextId id, Rank my_rank, ProcListPtr ranks) {
  Context* const context = contexts_.add(id, my_rank, std::move(ranks));
  if (context == nullptr) return fail(Errc::internal, "pml: open", "this context id is open already");
  ArrivalChain parked = contexts_.unpark(id);
  while (Message* message = parked.pop_front()) {
    wire::Envelope header;
    header.source = to_int(message->rank);
    Source* const source = source_of(*message->peer, *context, header);
    if (source != nullptr) {
      add_unexpected(*context, *source, *message);
    } else {
      release(*message);
    }
  }
  return context;
}

void Engine::close(Context* context) noexcept {
  while (Request* request = context->any_source.pop_front()) {
    request->order = 0;
    finish_receive(*request, Fault::none, true);
  }
  context->each_source([this](Source& source) {
    while (Request* request = source.posted.pop_front()) {
      request->order = 0;
      finish_receive(*request, Fault::none, true);
    }
  });
  while (Message* message = context->arrivals.front()) {
    remove_unexpected(*context, *message);
    Peer& peer = *message->peer;
    const wire::Kind kind = message->kind;
    const std::uint64_t length = message->length;
    const std::uint64_t id = message->sender_id;
    release(*message);
    refuse(peer, kind, length, id);
  }
  contexts_.remove(*context);
}

Result<void> Engine::add_procs(const ProcList& procs) {
  for (std::uint32_t index = 0; index < procs.size(); ++index) {
    Peer& peer = peers_.peer(procs.at(index));
    const Contact contact = peers_.connect(peer);
    if (contact == Contact::later) mark_busy(peer);  // progress makes it as soon as its address is there
    if (contact != Contact::none) continue;
    std::string reasons;
    for (const std::string& reason : peer.refused) reasons += "\n  " + reason;
    return fail(Errc::unsupported, "pml: add_procs",
                "no transport reaches rank " + std::to_string(peer.proc.rank) + reasons);
  }
  return {};
}

void Engine::malformed(Peer& peer, const char* what) noexcept {
  if (peer.suspect) return;
  peer.suspect = true;
  counters_.notes.push_back("dropped a message of rank " + std::to_string(peer.proc.rank) + ": " + what);
}

Source* Engine::source_of(Peer& peer, Context& context, const wire::Envelope& envelope) noexcept {
  const auto index = static_cast<std::uint32_t>(envelope.source);
  if (index >= context.size() || context.ranks().at(index) != peer.proc) {
    malformed(peer, "its source rank is another process in this communicator");
    return nullptr;
  }
  Source* const source = context.touched(Rank{envelope.source});
  return source != nullptr ? source : &touch(context, Rank{envelope.source});
}

/// A message whose source has not been touched, or that is not plain eager.
void Engine::on_arrival(Peer& peer, const Arrival& arrival) noexcept {
  const ContextId id{arrival.envelope.context};
  Context* const context = contexts_.find(id);
  if (context == nullptr) {
    if (contexts_.closed(id)) {
      refuse(peer, arrival.envelope.prefix.kind, arrival.length, arrival.sender_id);
    } else {
      keep(peer, nullptr, nullptr, arrival);
    }
    return;
  }
  Source* const source = source_of(peer, *context, arrival.envelope);
  if (source == nullptr) return;
  Request* const request = take_posted(*context, *source, Tag{arrival.envelope.tag});
  if (request != nullptr) {
    match(*request, peer, arrival);
  } else {
    keep(peer, context, source, arrival);
  }
}

void Engine::keep(Peer& peer, Context* context, Source* source, const Arrival& arrival) noexcept {
  const bool eager = arrival.envelope.prefix.kind != wire::Kind::rts;
  const std::size_t held = sizeof(Message) + (eager ? static_cast<std::size_t>(arrival.length) : 0);
  auto* const message = new (pool_.take(held)) Message;
  message->peer = &peer;
  message->length = arrival.length;
  message->sender_id = arrival.sender_id;
  message->memory = arrival.memory;
  message->rank = Rank{arrival.envelope.source};
  message->tag = Tag{arrival.envelope.tag};
  message->kind = arrival.envelope.prefix.kind;
  message->flags = arrival.envelope.prefix.flags;
  if (eager && arrival.length != 0) {
    std::memcpy(message->payload(), arrival.payload, static_cast<std::size_t>(arrival.length));
  }
  ++counters_.unexpected;
  counters_.unexpected_bytes += held;
  counters_.unexpected_bytes_max = std::max(counters_.unexpected_bytes_max, counters_.unexpected_bytes);
  if (context != nullptr) {
    add_unexpected(*context, *source, *message);
  } else {
    contexts_.park(ContextId{arrival.envelope.context}, *message);
  }
}

void Engine::release(Message& message) noexcept {
  const std::size_t held = message.bytes_held();
  counters_.unexpected_bytes -= held;
  pool_.give(&message, held);
}

/// Nobody will receive this one: its sender must not wait for it.
void Engine::refuse(Peer& peer, wire::Kind kind, std::uint64_t length, std::uint64_t sender_id) noexcept {
  if (kind == wire::Kind::rts) {
    answer(peer, wire::Kind::fin, sender_id);
    return;
  }
  consumed(peer, static_cast<std::size_t>(length));
  if (kind == wire::Kind::eager_sync) answer(peer, wire::Kind::sync_ack, sender_id);
}

bool Engine::probe(Context& context, Rank source, Tag tag, Status* status) noexcept {
  const Message* const message = find_unexpected(context, source, tag);
  if (message == nullptr) {
    if (!holders_.empty()) probed_in_vain(context, source);
    return false;
  }
  if (status != nullptr) *status = {message->rank, message->tag, Fault::none, false, message->length};
  return true;
}

Message* Engine::mprobe(Context& context, Rank source, Tag tag, Status* status) noexcept {
  Message* const message = find_unexpected(context, source, tag);
  if (message == nullptr) {
    if (!holders_.empty()) probed_in_vain(context, source);
    return nullptr;
  }
  if (status != nullptr) *status = {message->rank, message->tag, Fault::none, false, message->length};
  remove_unexpected(context, *message);
  taken_.push_back(*message);
  return message;
}

void Engine::mrecv(Message* message, Request& request) noexcept {
  taken_.remove(*message);
  request.receive = true;
  request.flags = 0;
  match_kept(request, *message);
}

void Engine::begin_rendezvous(Request& request, Peer& peer, const Arrival& arrival, bool kept) noexcept {
  request.peer = &peer;
  request.order = 0;
  request.moved = 0;
  request.trial = 0;
  request.remote = arrival.sender_id;
  request.total = std::min(arrival.length, request.buffer.bytes);
  if (arrival.length > request.buffer.bytes) request.flags |= kTruncated;
  request.status.source = Rank{arrival.envelope.source};
  request.status.tag = Tag{arrival.envelope.tag};
  const Contact contact = peers_.connect(peer);
  if (contact == Contact::none) {
    finish_receive(request, fault_of(peer));
    return;
  }
  const std::uint8_t flags = arrival.envelope.prefix.flags;
  // A sender out of credit waits for what it is owed, even if that is little yet.
  if ((flags & wire::kStalled) != 0 && peer.owed > 0) return_credit(peer);
  if (request.total == 0) {
    answer(peer, wire::Kind::fin, request.remote);
    finish_receive(request, Fault::none);
    return;
  }
  request.order = transfers_.add(request);
  // The sender may have announced it over another transport than the one that leads back.
  const bool contiguous = (flags & wire::kGettable) != 0 && request.buffer.layout == nullptr;
  const bool made = contact == Contact::made;
  const bool gettable = made && contiguous && arrival.memory.realm == peer.transport->limits().get_realm;
  request.address = gettable ? arrival.memory.address : 0;
  if (!made || !contiguous) {
    ask_for_data(request);
  } else if (kept && may_turn_out_both(peer, request)) {
    request.phase = kUndecided;
    peer.undecided.push_back(request);
    mark_busy(peer);
  } else {
    begin_transfer(request, peer);
  }
}

void Engine::ask_for_data(Request& request, std::uint8_t flags) noexcept {
  request.phase = kReceiving;
  const wire::Cts header{{wire::Kind::cts, flags, 0, 0},
                         request.remote,
                         request.order,
                         request.moved,
                         request.total - request.moved};
  answer(*request.peer, wire::bytes_of(header));
}

void Engine::finish_receive(Request& request, Fault fault, bool cancelled) noexcept {
  if (request.order != 0) {
    transfers_.remove(request.order);
    if (request.trial != 0 && fault == Fault::none) end_trial(request);
  }
  request.order = 0;
  request.phase = kIdle;
  if (fault == Fault::none && (request.flags & kTruncated) != 0) fault = Fault::truncated;
  request.status.fault = fault;
  request.status.cancelled = cancelled;
  request.status.bytes = request.moved;
  publish(request);
}

void Engine::cancel_receive(Request& request) noexcept {
  if (request.phase != kPosted) return;
  if (request.rank == kAnySource) {
    request.context->any_source.remove(request);
  } else {
    request.context->touched(request.rank)->posted.remove(request);
  }
  request.order = 0;  // it was a stamp, not a transfer's id
  finish_receive(request, Fault::none, true);
}

}  // namespace starling::pml

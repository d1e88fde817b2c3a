// SPDX-License-Identifier: BSD-3-Clause
// What an eager message passes through only when nothing posted fits it, or its context is not open yet.
#include "frameworks/pml/matcher.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace starling::pml {

Matcher::~Matcher() {
  contexts_.each([this](Context& context) {
    while (Message* message = context.arrivals.pop_front()) release(*message);
  });
  contexts_.each_parked([this](ContextId, ArrivalChain& messages) {
    while (Message* message = messages.pop_front()) release(*message);
  });
  while (Message* message = aside_.pop_front()) release(*message);
}

Result<Context*> Matcher::open(ContextIds ids, Rank my_rank, ProcListPtr ranks) {
  const ContextId id = ids.own();
  Context* const context = contexts_.add(std::move(ids), my_rank, std::move(ranks));
  if (context == nullptr) return fail(Errc::internal, "pml: open", "this context id is open already");
  ArrivalChain parked = contexts_.unpark(id);
  while (Message* message = parked.pop_front()) {
    Source* const source = source_of(*message->peer, *context, message->rank);
    if (source != nullptr) {
      add_unexpected(*context, *source, *message);
    } else {
      release(*message);
    }
  }
  return context;
}

Source* Matcher::touch_first(Context& context, Rank rank) noexcept {
  try {
    return &context.touch(rank, peers_.peer(context.ranks().at(static_cast<std::uint32_t>(to_int(rank)))));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Source* Matcher::source_of(Peer& peer, Context& context, Rank rank) noexcept {
  const auto index = static_cast<std::uint32_t>(to_int(rank));
  if (index >= context.size() || context.ranks().at(index) != peer.proc) {
    notes_.malformed(peer, "its source rank is another process in this communicator");
    return nullptr;
  }
  Source* const source = touch(context, rank);
  if (source == nullptr) notes_.malformed(peer, "there was no memory for the first message of its rank");
  return source;
}

void Matcher::keep(Peer& peer, ContextId id, Context* context, Source* source,
                   const Arrival& arrival) noexcept {
  Message& message = make(peer, arrival);
  if (arrival.eager() && arrival.length != 0) {
    std::memcpy(message.payload(), arrival.payload, static_cast<std::size_t>(arrival.length));
  }
  add(id, context, source, message);
}

Message& Matcher::make(Peer& peer, const Arrival& arrival) noexcept {
  const std::size_t held = sizeof(Message) + (arrival.eager() ? static_cast<std::size_t>(arrival.length) : 0);
  auto* const message = new (pool_.take(held)) Message;
  message->peer = &peer;
  message->length = arrival.length;
  message->sender_id = arrival.sender_id;
  message->offer = arrival.offer;
  message->rank = arrival.rank;
  message->tag = arrival.tag;
  message->kind = arrival.kind;
  message->flags = arrival.flags;
  ++counters_.unexpected;
  counters_.bytes += held;
  counters_.bytes_max = std::max(counters_.bytes_max, counters_.bytes);
  return *message;
}

void Matcher::add(ContextId id, Context* context, Source* source, Message& message) noexcept {
  if (context != nullptr) {
    add_unexpected(*context, *source, message);
  } else {
    contexts_.park(id, message);
  }
}

void Matcher::release(Message& message) noexcept {
  const std::size_t held = message.bytes_held();
  counters_.bytes -= held;
  pool_.give(&message, held);
}

std::optional<Arrival> Matcher::recall(const Peer& peer, ContextId id, std::uint64_t sender_id) noexcept {
  Context* const context = contexts_.find(id);
  ArrivalChain* const parked = context == nullptr ? contexts_.parked(id) : nullptr;
  Message* found = context != nullptr  ? context->arrivals.front()
                   : parked != nullptr ? parked->front()
                                       : nullptr;
  while (found != nullptr && (found->peer != &peer || found->sender_id != sender_id)) {
    found = ArrivalChain::after(*found);
  }
  if (found == nullptr) return std::nullopt;
  if (context != nullptr) {
    remove_unexpected(*context, *found);
  } else {
    parked->remove(*found);
  }
  Arrival arrival = Arrival::of(*found);
  arrival.payload = nullptr;
  release(*found);
  return arrival;
}

}  // namespace starling::pml

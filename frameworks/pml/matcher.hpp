// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Contexts, posted receives and unexpected messages: who gets which message. Layer: framework (pml).
///
/// It knows no protocol and sends nothing: what has matched, and what nobody will receive, it gives to its
/// caller. The rules are in matching.hpp, the tables in context_table.hpp and context.hpp.
/// Threads:   the pml's.
/// Ownership: contexts and kept messages; requests are their callers', peers the table's.
/// Ordering:  MPI's.
/// Errors:    a message that has arrived can neither be kept nor refused without memory: MessagePool ends the
///            process then, with a message.
/// Units:     bytes.

#include <cstdint>
#include <optional>

#include "core/result.hpp"
#include "frameworks/pml/arrival.hpp"
#include "frameworks/pml/context_table.hpp"
#include "frameworks/pml/matching.hpp"
#include "frameworks/pml/message_pool.hpp"
#include "frameworks/pml/peer.hpp"

namespace starling::pml {

class Matcher {
 public:
  Matcher(PeerTable& peers, Notes& notes) noexcept : peers_(peers), notes_(notes) {}
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
  ~Matcher();

  /// Messages that were parked for the id are unexpected ones when this returns.
  [[nodiscard]] Result<Context*> open(ContextIds ids, Rank my_rank, ProcListPtr ranks);
  /// Calls end(Request&) for each posted receive and refuse(Peer&, const Arrival&) for each message, whose
  /// payload is gone by then.
  template <class End, class Refuse>
  void close(Context& context, End end, Refuse refuse) {
    while (Request* request = context.any_source.pop_front()) end(*request);
    context.each_source([&](Source& source) {
      while (Request* request = source.posted.pop_front()) end(*request);
    });
    while (Message* message = context.arrivals.front()) {
      remove_unexpected(context, *message);
      Peer& peer = *message->peer;
      Arrival arrival = Arrival::of(*message);
      arrival.payload = nullptr;
      release(*message);
      refuse(peer, arrival);
    }
    contexts_.remove(context);
  }

  [[nodiscard]] Context* find(ContextId id) noexcept { return contexts_.find(id); }
  [[nodiscard]] bool closed(ContextId id) const { return contexts_.closed(id); }
  /// The Source of a rank, made if it is new; null: no memory.
  [[nodiscard]] Source* touch(Context& context, Rank rank) noexcept {
    Source* const source = context.touched(rank);
    return source != nullptr ? source : touch_first(context, rank);
  }
  /// The Source of a message that says it is from `rank`; null if that is another process.
  [[nodiscard]] Source* source_of(Peer& peer, Context& context, Rank rank) noexcept;

  /// Keeps a message that nothing posted fits, or that came before its context was opened (then both null).
  void keep(Peer& peer, ContextId id, Context* context, Source* source, const Arrival& arrival) noexcept;
  /// The same in two steps, for a message whose payload is still to be filled in; then release() or add().
  [[nodiscard]] Message& make(Peer& peer, const Arrival& arrival) noexcept;
  void add(ContextId id, Context* context, Source* source, Message& message) noexcept;
  void release(Message& message) noexcept;
  /// The earliest message that fits, which leaves the unexpected ones; null if none.
  [[nodiscard]] Message* take(Context& context, Rank rank, Tag tag) noexcept {
    Message* const message = find_unexpected(context, rank, tag);
    if (message != nullptr) remove_unexpected(context, *message);
    return message;
  }
  /// mprobe and mrecv: between the two a message belongs to no context.
  void set_aside(Message& message) noexcept { aside_.push_back(message); }
  void take_back(Message& message) noexcept { aside_.remove(message); }
  /// The sender takes an unmatched message back. Nothing if it has matched.
  [[nodiscard]] std::optional<Arrival> recall(const Peer& peer, ContextId id,
                                              std::uint64_t sender_id) noexcept;

  template <class Visit>
  void each_context(Visit visit) const {
    contexts_.each(visit);
  }
  struct Counters {
    std::uint64_t unexpected = 0, bytes = 0, bytes_max = 0;
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  [[nodiscard]] const MessagePool& pool() const noexcept { return pool_; }

 private:
  [[gnu::noinline]] Source* touch_first(Context& context, Rank rank) noexcept;

  ContextTable contexts_;
  PeerTable& peers_;
  Notes& notes_;
  MessagePool pool_;
  MessageChain aside_;
  Counters counters_;
};

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Answers to peers, and which peers have something to push. Layer: framework (peer).
///
/// Threads:   the thread that progresses.
/// Ownership: peers are the table's.
/// Ordering:  answers to one peer keep theirs, and may overtake other messages that wait: they refer to ids,
///            not to order.
/// Errors:    an answer that there is no memory to keep ends what concerns the peer, with Fault::no_memory:
///            the peer would wait for it.
/// Units:     bytes.

#include <cstddef>
#include <span>

#include "core/stack.hpp"
#include "frameworks/peer/notes.hpp"
#include "frameworks/peer/peer.hpp"
#include "frameworks/peer/table.hpp"

namespace starling::peer {

using BusyPeers = Stack<Peer, &Peer::next_busy>;
using LostPeers = Stack<Peer, &Peer::next_lost>;

class Outbox {
 public:
  Outbox(Table& peers, Notes& notes) noexcept : peers_(peers), notes_(notes) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox();

  /// Sends it, or keeps it until there is room. At most wire::kHeaderMax bytes.
  void answer(Peer& peer, std::span<const std::byte> message) noexcept;
  /// Sends the answers that wait. Returns events.
  [[nodiscard]] int push(Peer& peer) noexcept;
  void drop(Peer& peer) noexcept;
  /// Forgets all peers, which are about to go.
  void clear() noexcept;

  /// progress() has to do something for the peer.
  void mark_busy(Peer& peer) noexcept {
    if (peer.busy) return;
    peer.busy = true;
    busy_.push(peer);
  }
  [[nodiscard]] const BusyPeers& busy() const noexcept { return busy_; }
  /// All of them; those marked from now on are a new list.
  [[nodiscard]] BusyPeers take_busy() noexcept { return busy_.take_all(); }

  /// Closes the peer's fast path; take_lost() gives it out when nobody is in the middle of anything.
  void lost(Peer& peer, Fault fault) noexcept;
  [[nodiscard]] bool any_lost() const noexcept { return !lost_.empty(); }
  [[nodiscard]] Peer* take_lost() noexcept { return lost_.pop(); }

 private:
  Table& peers_;
  Notes& notes_;
  BusyPeers busy_;
  LostPeers lost_;
  AnswerChain spare_;
};

}  // namespace starling::peer

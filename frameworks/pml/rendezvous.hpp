// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Messages that are announced first, and the protocols that move their data. Layer: framework (pml).
///
/// Rendezvous announces sends, has a protocol chosen when the receiver has matched, and knows all transfers.
/// The protocols (protocol.hpp) move the bytes; the Chooser (chooser.hpp) says which protocol.
/// Threads:   the pml's.
/// Ownership: protocols and chooser; transfers are the table's, requests their callers'.
/// Ordering:  none: messages about transfers name them by id.
/// Errors:    per request. Nothing here ends the process for want of memory.
/// Units:     bytes.

#include <array>
#include <memory>
#include <vector>

#include "core/result.hpp"
#include "frameworks/pml/arrival.hpp"
#include "frameworks/pml/chooser.hpp"
#include "frameworks/pml/peer.hpp"
#include "frameworks/pml/protocol.hpp"
#include "frameworks/pml/transfer.hpp"

namespace starling::pml {

/// In the order of their numbers. The first must take every receive: it gets those that are not contiguous,
/// and those that another protocol has given up.
using Protocols = std::vector<std::unique_ptr<Protocol>>;

class Rendezvous {
 public:
  Rendezvous(PeerTable& peers, Outbox& outbox, TransferTable& transfers, Notes& notes,
             std::unique_ptr<Chooser> chooser, Protocols protocols);
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  /// What is wrong with a list of protocols; for plugins that make an engine with protocols of their own.
  [[nodiscard]] static Result<void> check(const Protocols& protocols);

  // Sender
  /// Announces a send; `stalled`: it is short, but out of credit. Again: nothing has happened; done: it is
  /// complete.
  [[nodiscard]] Post announce(Request& request, bool stalled) noexcept;
  /// Whether these bytes lie in a message that waits here for this peer (btl::Sink::announced).
  [[nodiscard]] bool announced(ProcId to, const btl::RemoteBuffer& what, std::size_t bytes) const noexcept;
  [[nodiscard]] std::uint64_t announced_ever() const noexcept { return announced_ever_; }

  // Receiver
  /// A receive has matched an announcement; `kept`: the announcement had come before the receive.
  void match(Request& request, Peer& peer, const Arrival& arrival, bool kept) noexcept;

  // Both
  /// fin, sync_ack, cancel_answer.
  void on_answer(Peer& peer, std::span<const std::byte> message) noexcept;
  /// The protocol whose kind this is, or null.
  [[nodiscard]] Protocol* protocol_of(wire::Kind kind) const noexcept {
    return by_kind_[static_cast<std::uint8_t>(kind)];
  }
  /// Chooses the protocol of receives for which that was left open. Returns events.
  [[nodiscard]] int decide(Peer& peer) noexcept;
  /// Pushes what the protocols have queued. Returns events.
  [[nodiscard]] int push(Peer& peer) noexcept;
  /// Whether something goes on with the peer that only the next pass takes further.
  [[nodiscard]] bool needs_passes(const Peer& peer) const noexcept;
  /// Ends all transfers with the peer, with its fault.
  void lose(Peer& peer) noexcept;
  [[nodiscard]] std::vector<std::string> notes() const { return chooser_->notes(); }

  // What protocols use.
  /// A transfer of this peer, or null: ids of others, and of what has ended, find nothing.
  [[nodiscard]] Transfer* find(const Peer& peer, std::uint64_t id) const noexcept {
    Transfer* const transfer = transfers_.find(id);
    return transfer != nullptr && transfer->peer == &peer ? transfer : nullptr;
  }
  /// As find(), for a send whose receiver has not yet chosen a protocol. From here on protocol `number` has
  /// it.
  [[nodiscard]] Transfer* take_announced(Peer& peer, std::uint64_t id, Large number) noexcept;
  /// As find(), for a receive that protocol `number` has.
  [[nodiscard]] Transfer* receiving(const Peer& peer, std::uint64_t id, Large number) const noexcept;
  [[nodiscard]] ProtocolPeer& with(Peer& peer, Large number) const noexcept {
    return peer.large.with[static_cast<std::size_t>(number)];
  }
  /// Whether the peer has an endpoint now.
  [[nodiscard]] bool connected(Peer& peer) noexcept { return peers_.connect(peer) == Contact::made; }
  /// Whether a network has had something to do lately: long copies look at it in between.
  [[nodiscard]] bool network_active() const noexcept { return peers_.network_active(); }
  /// Calls push() for the transfer from now on, until unqueue() or its end.
  void queue(Transfer& transfer) noexcept;
  void unqueue(Transfer& transfer) noexcept;
  /// Sends a message of the protocol, at most wire::kHeaderMax bytes; it is kept until there is room.
  void answer(Peer& peer, std::span<const std::byte> message) noexcept { outbox_.answer(peer, message); }
  /// Counts a message of ours, or a part of one, that this protocol has moved.
  void count(const Transfer& send, std::uint64_t bytes) noexcept;
  /// Ends a transfer: all of it has moved, or it cannot move.
  void finish(Transfer& transfer, Fault fault, bool cancelled = false) noexcept;
  /// Goes on with a receive by the first protocol, from `moved`; the present one is not used with the peer
  /// again.
  void give_up(Transfer& transfer, const char* why) noexcept;
  void malformed(Peer& peer, const char* what) noexcept { notes_.malformed(peer, what); }
  [[nodiscard]] Notes& said() noexcept { return notes_; }

 private:
  [[nodiscard]] std::uint32_t possible(const Transfer& transfer) noexcept;
  [[nodiscard]] LargeChoice choose(Transfer& transfer) noexcept;
  [[nodiscard]] bool may_turn_out_both(const Transfer& transfer) noexcept;
  void begin(Transfer& transfer, LargeChoice choice) noexcept;
  void assign(Transfer& transfer, Large number) noexcept {
    transfer.number = number;
    transfer.protocol = &numbered(number);
  }
  void settle_announced(Transfer& transfer) noexcept;
  void end_trial(Transfer& transfer) noexcept;
  [[nodiscard]] Protocol& numbered(Large number) const noexcept {
    return *protocols_[static_cast<std::size_t>(number)];
  }

  PeerTable& peers_;
  Outbox& outbox_;
  TransferTable& transfers_;
  Notes& notes_;
  std::unique_ptr<Chooser> chooser_;
  Protocols protocols_;
  std::array<Protocol*, 256> by_kind_{};
  Protocol* offering_ = nullptr;  // the one whose offer an announcement carries
  std::uint64_t announced_ever_ = 0;
};

}  // namespace starling::pml

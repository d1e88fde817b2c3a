// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the pml keeps of a process that this one talks to: waiting messages, credit. Layer: framework
/// (pml).
///
/// Threads:   the pml's.
/// Ownership: the table's (frameworks/peer/table.hpp); requests are their callers'.
/// Ordering:  user messages and those of other ports wait in one FIFO; answers may overtake it.
/// Units:     bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/chain.hpp"
#include "core/ids.hpp"
#include "frameworks/peer/outbox.hpp"
#include "frameworks/peer/peer.hpp"
#include "frameworks/peer/table.hpp"
#include "frameworks/pml/granted.hpp"
#include "frameworks/pml/held_back.hpp"
#include "frameworks/pml/invited.hpp"
#include "frameworks/pml/request.hpp"
#include "frameworks/pml/send_waits.hpp"
#include "frameworks/pml/traffic.hpp"
#include "frameworks/pml/transfer.hpp"
#include "frameworks/pml/wire.hpp"

namespace starling::pml {

using RequestChain = Chain<Request, &Request::next, &Request::previous>;
using PeerState = peer::State;
using peer::Contact;
using peer::Notes;
using peer::Outbox;

struct Message;

/// The eager message of a peer's whose parts are coming.
struct PartsIn {
  ContextId context;
  std::uint64_t length = 0;    ///< 0: none
  std::uint64_t moved = 0;     ///< of these
  Request* request = nullptr;  ///< the receive that it has matched
  Message* message = nullptr;  ///< or where it is put together. Neither: it is dropped
};

struct Peer final : peer::Peer {
  Peer(ProcId who, std::int64_t window)
      : peer::Peer(who),
        credit(window),
        return_at(window / 2),
        credit_got(static_cast<std::uint64_t>(window)) {}

  // Read and written for every message, as what lies before it.
  std::int64_t credit;           ///< what we may still send eagerly, in cost_of() bytes
  std::int64_t owed = 0;         ///< what the peer sent eagerly, has been consumed, and is not yet returned
  std::uint64_t eager_sent = 0;  ///< messages
  std::int64_t
      return_at;  // owed goes back from here on. Between the two, which gcc would else add as a vector
  std::uint64_t eager_bytes_sent = 0;

  /// Receives from it are not simply posted: it is lost, or may be told of them.
  bool receives_apart = false;

  Traffic slow_sent;                       ///< all but the eager ones
  std::size_t eager_bytes = 0;             ///< longest eager payload
  std::size_t whole_bytes = 0;             ///< longest that may go as one message
  std::size_t parts_above = SIZE_MAX;      ///< longer eager ones go in parts
  std::size_t part_bytes = 0;              ///< payload of a part
  std::size_t fragment_bytes = 0;          ///< payload of one data fragment
  std::size_t send_from_bytes = SIZE_MAX;  ///< from here on the transport spares a copy (btl::Limits)
  std::size_t join_bytes = 0;              ///< up to here messages of a burst join (btl::Limits)

  Exchange large;  ///< what the rendezvous keeps

  std::uint64_t parts_sent = 0;  ///< of the send at the head of the fifo that goes in parts
  PartsIn parts_in;

  RequestChain fifo;               ///< sends that have not started, oldest first
  std::unique_ptr<HeldBack> held;  ///< sends that it has no room to hear of; null: there was none yet
  std::uint32_t announced = 0;     ///< what it has been told of and has neither matched nor refused

  std::unique_ptr<PeerGrants> grants;        ///< null: none
  std::unique_ptr<Invitations> invitations;  ///< null: none

  std::uint64_t credit_got;         ///< all that there was ever to send eagerly
  std::uint64_t credit_given = 0;   ///< all that was returned
  std::uint64_t ordered_sent = 0;   ///< messages that matching sees, but for the eager ones
  std::uint64_t ordered_taken = 0;  ///< of the peer's
  SendWaits waits;                  ///< ours, for it to look
  std::uint32_t welcome = 0;        ///< classes of receives that it wants to be told of

  /// sent(): our position in what the peer matches. taken(): how much of its traffic is matched here or was
  /// not eager. If the peer's sent() equals our taken(), nothing of it is on its way or unexpected.
  [[nodiscard]] std::uint64_t sent() const noexcept {
    return credit_got - static_cast<std::uint64_t>(credit) + ordered_sent;
  }
  [[nodiscard]] std::uint64_t taken() const noexcept {
    return credit_given + static_cast<std::uint64_t>(owed) + ordered_taken;
  }

  [[nodiscard]] bool holds_back() const noexcept { return held != nullptr && !held->empty(); }
  /// After a change of fifo, held or state: whether the fast path is open.
  void update_fast_path() noexcept {
    const bool open = state == PeerState::connected && fifo.empty() && !holds_back();
    fast_bytes =
        open ? static_cast<std::int64_t>(std::min({whole_bytes, send_from_bytes - 1, parts_above})) : -1;
    fast_open_bytes = join_bytes == 0 ? fast_bytes : -1;
  }
  /// Whether the transport is given a send of `bytes` where it lies, and says when it has done with it.
  [[nodiscard]] bool sends_from(const Request& send, std::size_t bytes) const noexcept {
    return (bytes >= send_from_bytes || (join_bytes != 0 && bytes <= join_bytes)) &&
           send.buffer.layout == nullptr;
  }
};

/// All peers of the pml's table are of its own kind: it makes them (peer::Front::make_peer).
[[nodiscard]] inline Peer& own(peer::Peer& peer) noexcept { return static_cast<Peer&>(peer); }
[[nodiscard]] inline const Peer& own(const peer::Peer& peer) noexcept {
  return static_cast<const Peer&>(peer);
}

/// The table, with peers as the pml knows them.
class PeerTable {
 public:
  explicit PeerTable(peer::Table& table) noexcept : table_(table) {}

  /// May throw std::bad_alloc.
  Peer& peer(ProcId proc) { return own(table_.peer(proc)); }
  [[nodiscard]] Peer* find(ProcId proc) const noexcept { return static_cast<Peer*>(table_.find(proc)); }
  Contact connect(Peer& peer) noexcept { return table_.connect(peer); }
  [[nodiscard]] bool network_active() const noexcept { return table_.network_active(); }
  template <class Visit>
  void each(Visit visit) const {
    table_.each([&](peer::Peer& peer) { visit(own(peer)); });
  }

 private:
  peer::Table& table_;
};

/// A short answer about the message of that id.
inline void answer(Outbox& outbox, Peer& peer, wire::Kind kind, std::uint64_t id,
                   std::uint8_t flags = 0) noexcept {
  const wire::Answer header{{kind, flags, 0, 0}, id};
  outbox.answer(peer, wire::bytes_of(header));
}

}  // namespace starling::pml

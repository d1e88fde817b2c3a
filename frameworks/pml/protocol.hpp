// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A rendezvous protocol: how the data of an announced message move. Layer: framework interface.
///
/// A message that is too long to go at once is announced (wire::Rts). The receiver, once it has matched, has
/// a Chooser choose a protocol and calls its accept(); from there on the two sides of the protocol talk to
/// each other in messages of its own kinds. The engine keeps the transfers, their ids and what a lost peer
/// ends, and serves the protocols through Rendezvous (rendezvous.hpp). See docs/design/pml.md, "A protocol of
/// one's own".
/// Threads:   the pml's.
/// Ownership: the engine's. What a protocol keeps of a transfer is in Transfer::state(), of a peer in
///            ProtocolPeer::state.
/// Errors:    Rendezvous::finish() tells how a message has ended. Nothing that a peer sends is trusted: what
///            does not fit goes to Rendezvous::malformed().
/// Units:     bytes.

#include <cstddef>
#include <span>
#include <string_view>

#include "frameworks/pml/transfer.hpp"
#include "frameworks/pml/wire.hpp"

namespace starling::pml {

class Rendezvous;

class Protocol {
 public:
  virtual ~Protocol() = default;

  struct Facts {
    std::string_view name;
    /// Of its messages; no other protocol's. A plugin's own: kOwnKinds on.
    std::span<const wire::Kind> kinds;
    /// It needs contiguous buffers on both sides.
    bool contiguous = false;
    /// What it has queued goes on with each push(), not only when the peer makes room.
    bool steps = false;
    /// The sender moves the bytes: they are counted as pushed, else as got by the receiver.
    bool pushes = false;
    /// It fills the announcement's wire::Offer; one protocol of an engine at most.
    bool offers = false;
  };
  [[nodiscard]] virtual const Facts& facts() const noexcept = 0;
  /// Its number and who serves it; called once, before anything else.
  virtual void attach(Rendezvous& rendezvous, Large number) noexcept = 0;

  /// Sender, if Facts::offers: a message is about to be announced. What receivers have to know of its memory
  /// can be told.
  virtual void offer(const Transfer& send, wire::Offer& offer) noexcept = 0;

  /// Receiver: whether this protocol could ever take this transfer; the Chooser is told.
  [[nodiscard]] virtual bool possible(const Transfer& receive) noexcept = 0;
  /// Receiver: whether it could now. What is chosen and is not ready is prepared, and another protocol takes
  /// the transfer.
  [[nodiscard]] virtual bool ready(const Transfer& receive) const noexcept = 0;
  virtual void prepare(Peer& peer) noexcept = 0;
  /// Receiver: begins, at `moved`. With the first of the list, also between buffers that are not contiguous,
  /// and after another protocol has given up.
  virtual void accept(Transfer& receive) noexcept = 0;

  /// A message of one of its kinds has come; valid during the call.
  virtual void on_message(Peer& peer, std::span<const std::byte> message) noexcept = 0;
  /// Takes what is queued for a peer further (Rendezvous::queue), as far as the transport has room: called by
  /// each progress() while something is. Also for a lost peer, for what drop() has kept. Returns events.
  virtual int push(Peer& peer) noexcept = 0;

  /// The peer is lost and the transfer about to end; it leaves the queue. False: not yet, something still
  /// uses its buffer; push() will end it.
  [[nodiscard]] virtual bool drop(Transfer& transfer) noexcept = 0;
  /// The peer is lost, and what could end has. Its ProtocolState goes after this.
  virtual void lose(Peer& peer) noexcept = 0;
};

}  // namespace starling::pml

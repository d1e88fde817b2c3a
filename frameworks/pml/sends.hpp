// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Sends from their start until they have been handed over or announced. Layer: framework (pml).
///
/// A send goes eagerly or is announced; it waits in its peer's FIFO while there is no contact or no room, and
/// in a line of its context (held_back.hpp) while its receiver has no room to hear of it. See
/// docs/design/pml.md, "Bounded memory".
/// Threads:   the pml's.
/// Ownership: requests are their callers'; messages of other ports are copied.
/// Ordering:  of a context as posted; those of other ports in between, as posted.
/// Errors:    per request.
/// Units:     bytes.

#include <cstdint>
#include <span>

#include "frameworks/pml/eager.hpp"
#include "frameworks/pml/early.hpp"
#include "frameworks/pml/grants.hpp"
#include "frameworks/pml/parts.hpp"
#include "frameworks/pml/rendezvous.hpp"

namespace starling::pml {

class Sends {
 public:
  Sends(PeerTable& peers, Outbox& outbox, Eager& eager, Rendezvous& rendezvous, Grants& grants, Early& early,
        std::uint32_t announced_max) noexcept
      : peers_(peers),
        outbox_(outbox),
        eager_(eager),
        rendezvous_(rendezvous),
        grants_(grants),
        early_(early),
        announced_max_(announced_max) {}
  Sends(const Sends&) = delete;
  Sends& operator=(const Sends&) = delete;
  ~Sends();

  /// A send that could not simply be handed over (Eager::try_send).
  void send(Request& request, Peer& peer) noexcept;
  /// The same for one that Eager::in_parts() and may go now.
  void send_in_parts(Request& request, Peer& peer) noexcept;
  /// A short message of some port, in order with the others (peer::Front::send).
  void send(Peer& peer, std::uint8_t kind, std::span<const std::byte> payload);
  void cancel(Request& request) noexcept;
  /// Ends what is held back for this context with the death of `rank`: its receivers are not coming to it.
  void cancel_held(const Context& context, Rank rank) noexcept;

  /// What waits in the FIFO, and behind it. Returns events.
  [[nodiscard]] int push(Peer& peer) noexcept;
  /// The receiver wants more of a context.
  void on_go_on(Peer& peer, const wire::Envelope& header) noexcept;
  /// Ends what waits to be sent to a peer that cannot be reached.
  void drop(Peer& peer, Fault fault) noexcept;

  [[nodiscard]] std::size_t held_now() const noexcept { return held_now_; }
  [[nodiscard]] std::uint64_t held_ever() const noexcept { return held_ever_; }
  [[nodiscard]] std::uint32_t announced_max() const noexcept { return announced_max_; }

 private:
  struct PortMessage;
  [[nodiscard]] bool start(Request& request) noexcept;
  [[nodiscard]] bool start_port_message(Request& request) noexcept;
  void enqueue(Peer& peer, Request& request) noexcept;
  [[nodiscard]] int push_fifo(Peer& peer) noexcept;
  void hold_back(Request& request) noexcept;
  [[nodiscard]] bool may_go(const Peer& peer, const HeldBack::Line& line) const noexcept;
  [[nodiscard]] int push_held(Peer& peer) noexcept;

  PeerTable& peers_;
  Outbox& outbox_;
  Eager& eager_;
  Rendezvous& rendezvous_;
  Grants& grants_;
  Early& early_;
  std::uint32_t announced_max_;
  std::size_t held_now_ = 0;  // sends that wait for the receiver to match earlier ones
  std::uint64_t held_ever_ = 0;
};

}  // namespace starling::pml

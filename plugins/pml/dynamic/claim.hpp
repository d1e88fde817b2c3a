// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Receiver, sender and whoever waits copy a message together, in chunks. Layer: plugin (pml/dynamic).
///
/// The receiver opens the copy (frameworks/shm/claims) and begins; the invitation that it sends only says
/// where, so a sender that comes late, or never, delays nothing but its own share. It is told when all is
/// there. Both sides' memory must be such as others can map. See docs/design/dynamic.md.
/// Threads:   the pml's. Ownership: none; the copies are the transport's.
/// Ordering:  none. Errors: as Protocol. Units: bytes.

#include "frameworks/pml/protocol.hpp"
#include "frameworks/shm/claims/copies.hpp"

namespace starling::pml {

/// How one message is to be copied.
struct CopyShape {
  std::uint64_t chunk_bytes = 0;         ///< 0: as the number of those who may take part suggests
  std::uint32_t receiver_chunks = ~0u;   ///< that the receiver takes at most, unless the sender declines
  bool invites = true;                   ///< the sender
  shm::Steal steal = shm::Steal::never;  ///< by processes that wait
};

/// Says so, and hears who took part: one bit each.
class CopyPlan {
 public:
  [[nodiscard]] virtual CopyShape shape(const Peer& peer, std::uint64_t bytes) noexcept = 0;
  virtual void took_part(const Peer& peer, std::uint64_t bytes, std::uint64_t who) noexcept = 0;

 protected:
  ~CopyPlan() = default;
};

class ClaimProtocol final : public Protocol {
 public:
  static constexpr wire::Kind kInvite{128}, kAllThere{129}, kDecline{130};

  /// The plan outlives it.
  explicit ClaimProtocol(CopyPlan& plan) noexcept : plan_(plan) {}

  [[nodiscard]] const Facts& facts() const noexcept override;
  void attach(Rendezvous& rendezvous, Large number) noexcept override {
    rendezvous_ = &rendezvous;
    number_ = number;
  }
  void offer(const Transfer&, wire::Offer&) noexcept override {}  // what a get says is enough
  [[nodiscard]] bool possible(const Transfer& receive) noexcept override;
  [[nodiscard]] bool ready(const Transfer& receive) const noexcept override;
  void prepare(Peer&) noexcept override {}  // ready() has asked for the memory
  void accept(Transfer& receive) noexcept override;
  void on_message(Peer& peer, std::span<const std::byte> message) noexcept override;
  int push(Peer& peer) noexcept override;
  [[nodiscard]] bool drop(Transfer& transfer) noexcept override;
  void lose(Peer&) noexcept override {}

 private:
  /// What the receiver tells the sender: where the copy stands.
  struct Invite {
    wire::Prefix prefix;
    std::uint64_t sender_id = 0, receiver_id = 0;
    std::uint32_t slot = 0, generation = 0;
  };
  struct Copy;
  [[nodiscard]] int receive_some(Transfer& receive) noexcept;
  [[nodiscard]] int send_some(Transfer& send) noexcept;
  void end(Transfer& receive, Fault fault) noexcept;
  void on_invite(Peer& peer, std::span<const std::byte> message) noexcept;

  CopyPlan& plan_;
  Rendezvous* rendezvous_ = nullptr;
  Large number_{};
};

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The sender lends its memory through the endpoint, and the receiver copies. Layer: framework (pml).
///
/// For pairs of a node that send to each other at the same time: docs/design/pml.md, "Both ways at once". How
/// memory is lent is the transport's (btl::Loans).
/// Threads:   the pml's.
/// Ownership: a lent send is complete when the receiver has copied all of it.
/// Ordering:  what is lent, announced and taken is in one order for all messages of a pair; and whatever is
///            announced is taken, also when nobody wants it any more.
/// Errors:    as Protocol. Units: bytes.

#include "frameworks/pml/protocol.hpp"

namespace starling::pml {

class Lend final : public Protocol {
 public:
  /// How many peers are lent to at most, and how many pieces are lent per peer and progress call.
  Lend(std::uint32_t peers, std::uint32_t pieces) noexcept : peers_left_(peers), pieces_(pieces) {}

  [[nodiscard]] const Facts& facts() const noexcept override;
  void attach(Rendezvous& rendezvous, Large number) noexcept override {
    rendezvous_ = &rendezvous;
    number_ = number;
  }
  void offer(const Transfer&, wire::Offer&) noexcept override {}
  [[nodiscard]] bool possible(const Transfer& receive) noexcept override;
  [[nodiscard]] bool ready(const Transfer& receive) const noexcept override;
  void prepare(Peer& peer) noexcept override;
  void accept(Transfer& receive) noexcept override;
  void on_message(Peer& peer, std::span<const std::byte> message) noexcept override;
  int push(Peer& peer) noexcept override;
  [[nodiscard]] bool drop(Transfer&) noexcept override { return true; }
  void lose(Peer& peer) noexcept override;

 private:
  struct Pair;
  [[nodiscard]] Pair* pair(Peer& peer) const noexcept;
  [[nodiscard]] Pair* make_pair(Peer& peer) noexcept;
  void on_lender(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_borrow(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_lent(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_taken(Peer& peer, std::span<const std::byte> message) noexcept;
  [[nodiscard]] bool lend(Transfer& send) noexcept;

  Rendezvous* rendezvous_ = nullptr;
  Large number_{};
  std::uint32_t peers_left_;
  std::uint32_t pieces_;
};

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The sender pushes fragments through its endpoint; works everywhere. Layer: framework (pml).
///
/// Threads:   the pml's. Ownership: none. Errors: as Protocol. Units: bytes.
/// Ordering:  fragments are in order, or name their offset where a peer has several paths.

#include "frameworks/pml/protocol.hpp"

namespace starling::pml {

class Ring final : public Protocol {
 public:
  /// Fragments per peer and progress call.
  explicit Ring(std::uint32_t fragments) noexcept : fragments_(fragments) {}

  [[nodiscard]] const Facts& facts() const noexcept override;
  void attach(Rendezvous& rendezvous, Large number) noexcept override {
    rendezvous_ = &rendezvous;
    number_ = number;
  }
  void offer(const Transfer&, wire::Offer&) noexcept override {}
  [[nodiscard]] bool possible(const Transfer&) noexcept override { return true; }
  [[nodiscard]] bool ready(const Transfer&) const noexcept override { return true; }
  void prepare(Peer&) noexcept override {}
  void accept(Transfer& receive) noexcept override;
  void on_message(Peer& peer, std::span<const std::byte> message) noexcept override;
  int push(Peer& peer) noexcept override;
  [[nodiscard]] bool drop(Transfer& transfer) noexcept override;
  void lose(Peer&) noexcept override {}

 private:
  void on_cts(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_data(Peer& peer, std::span<const std::byte> message, bool at_offset) noexcept;
  [[nodiscard]] Post put_fragment(Peer& peer, Transfer& send, std::size_t bytes) noexcept;

  Rendezvous* rendezvous_ = nullptr;
  Large number_{};
  std::uint32_t fragments_;
};

}  // namespace starling::pml

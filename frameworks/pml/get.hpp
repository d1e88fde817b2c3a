// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The receiver gets the data from the sender's memory, and says so. Layer: framework (pml).
///
/// Within a node the kernel serves a get; over a network the owner's transport does, after it has asked its
/// pml whether these bytes were announced to this peer. One that fails goes on as a push from the byte
/// reached, and the peer is served by pushes from then on.
/// Threads:   the pml's. Ownership: none. Errors: as Protocol. Units: bytes.
/// Ordering:  of what is got from one peer only the oldest goes on at a time, so that what was announced
///            first ends first.

#include "frameworks/pml/protocol.hpp"

namespace starling::pml {

class Get final : public Protocol {
 public:
  /// Bytes that one get copies before other messages are looked at, where the transport has no best size.
  explicit Get(std::uint64_t chunk_bytes) noexcept : chunk_bytes_(chunk_bytes) {}

  [[nodiscard]] const Facts& facts() const noexcept override;
  void attach(Rendezvous& rendezvous, Large number) noexcept override {
    rendezvous_ = &rendezvous;
    number_ = number;
  }
  void offer(const Transfer& send, wire::Offer& offer) noexcept override;
  [[nodiscard]] bool possible(const Transfer& receive) noexcept override;
  [[nodiscard]] bool ready(const Transfer&) const noexcept override { return true; }
  void prepare(Peer&) noexcept override {}
  void accept(Transfer& receive) noexcept override;
  void on_message(Peer& peer, std::span<const std::byte> message) noexcept override;
  int push(Peer& peer) noexcept override;
  [[nodiscard]] bool drop(Transfer& transfer) noexcept override;
  void lose(Peer&) noexcept override {}

 private:
  void begin_chunk(Transfer& receive) noexcept;
  [[nodiscard]] bool step(Transfer& receive, int& events) noexcept;

  Rendezvous* rendezvous_ = nullptr;
  Large number_{};
  std::uint64_t chunk_bytes_;
};

}  // namespace starling::pml

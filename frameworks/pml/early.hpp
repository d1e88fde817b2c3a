// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Early push: long messages whose receive is known to be waiting are pushed behind their announcement, without
/// an answer in between. Layer: framework (pml). See docs/design/pml.md, "Early push".
///
/// Who posts a long receive tells its sender so (`ready`), if no earlier receive could take that message. The sender
/// marks the announcement of the message and pushes the data at once. The receiver matches the announcement as always.
/// If a posted receive takes it, the data go there, and the sender is told; if none does, the data are dropped as they
/// come, and the message goes on as if it had been announced without. So `ready` is a hint: what is wrong with it costs bytes and
/// never a wrong buffer, and a receive that was cancelled or taken by another message needs no answer.
///
/// Threads:   the pml's.
/// Ownership: the engine's; hints and receives under way are kept per peer.
/// Ordering:  data come behind their announcement: with one path only.
/// Errors:    as the rendezvous. Where hints turn out wrong too often they are not followed any more.
/// Units:     bytes.

#include <cstdint>

#include "frameworks/pml/context.hpp"
#include "frameworks/pml/protocol.hpp"

namespace starling::pml {

class Early final : public Protocol {
 public:
  explicit Early(std::uint32_t fragments_per_push) noexcept : fragments_(fragments_per_push) {}

  [[nodiscard]] const Facts& facts() const noexcept override;
  void attach(Rendezvous& rendezvous, Large number) noexcept override {
    rendezvous_ = &rendezvous;
    number_ = number;
  }
  void offer(const Transfer&, wire::Offer&) noexcept override {}
  /// No chooser's choice: the announcement says so.
  [[nodiscard]] bool possible(const Transfer&) noexcept override { return false; }
  [[nodiscard]] bool ready(const Transfer&) const noexcept override { return false; }
  void prepare(Peer&) noexcept override {}
  void accept(Transfer& receive) noexcept override;
  void on_message(Peer& peer, std::span<const std::byte> message) noexcept override;
  int push(Peer& peer) noexcept override;
  [[nodiscard]] bool drop(Transfer& transfer) noexcept override;
  void lose(Peer&) noexcept override {}

  /// Longer ones are announced only: their data take so long that an answer costs nothing.
  static constexpr std::uint64_t kLongest = 4 * 1024 * 1024;

  // Receiver
  /// A receive that names its sender is about to be posted.
  void tell(Request& request, const Source& source) noexcept;

  // Sender
  /// Whether the receiver waits for this message, as far as is known.
  [[nodiscard]] bool awaited(const Transfer& send) noexcept;
  /// It has been announced, with or without data behind.
  void begin(Transfer& send) noexcept;
  void announced_alone(Peer& peer) noexcept;
  /// The receiver wants the data another way, from the beginning.
  void missed(Transfer& send) noexcept;

  struct Counters {
    std::uint64_t told = 0;    ///< receives that their senders were told of
    std::uint64_t pushed = 0;  ///< messages whose data left with their announcement
    std::uint64_t missed = 0;  ///< of these, in vain
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  struct Pair;
  [[nodiscard]] Pair* pair(Peer& peer) const noexcept;
  [[nodiscard]] Pair* make_pair(Peer& peer) noexcept;
  void on_ready(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_data(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_taken(Peer& peer, std::span<const std::byte> message) noexcept;
  void end(Transfer& send) noexcept;

  Rendezvous* rendezvous_ = nullptr;
  Large number_{};
  std::uint32_t fragments_;
  Counters counters_;
};

}  // namespace starling::pml

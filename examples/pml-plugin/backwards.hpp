// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A protocol that Starling does not have: the sender sends the message's end first. Layer: plugin.
///
/// It shows what a protocol brings: two kinds of messages of its own, state per transfer (what is left) and
/// per peer (how many messages have gone this way), and nothing in the engine knows of it.
/// Threads: the pml's. Ownership: the engine's. Errors: as pml::Protocol. Units: bytes.

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>

#include "frameworks/pml/rendezvous.hpp"

namespace starling::pml {

class Backwards final : public Protocol {
 public:
  static constexpr wire::Kind kAsk = wire::kOwnKinds, kPiece{static_cast<std::uint8_t>(kAsk) + 1};

  [[nodiscard]] const Facts& facts() const noexcept override {
    static constexpr std::array kKinds{kAsk, kPiece};
    static constexpr Facts kFacts{.name = "backwards", .kinds = kKinds, .contiguous = true, .pushes = true};
    return kFacts;
  }
  void attach(Rendezvous& rendezvous, Large number) noexcept override {
    rendezvous_ = &rendezvous;
    number_ = number;
  }
  void offer(const Transfer&, wire::Offer&) noexcept override {}
  [[nodiscard]] bool possible(const Transfer&) noexcept override { return true; }
  [[nodiscard]] bool ready(const Transfer&) const noexcept override { return true; }
  void prepare(Peer&) noexcept override {}

  void accept(Transfer& receive) noexcept override {
    receive.make_state<Left>(receive.total);
    const Ask ask{{kAsk, 0, 0, 0}, receive.remote, receive.id, receive.total};
    rendezvous_->answer(*receive.peer, wire::bytes_of(ask));
  }
  void on_message(Peer& peer, std::span<const std::byte> message) noexcept override {
    if (static_cast<wire::Kind>(message.front()) == kAsk) {
      on_ask(peer, message);
    } else {
      on_piece(peer, message);
    }
  }
  int push(Peer& peer) noexcept override {
    TransferChain& queue = rendezvous_->with(peer, number_).queue;
    int events = 0;
    for (; events < 4 && !queue.empty(); ++events) {
      Transfer& send = *queue.front();
      std::uint64_t& left = send.state<Left>().bytes;
      const std::uint64_t bytes = std::min<std::uint64_t>(peer.fragment_bytes, left);
      const wire::Data header{{kPiece, 0, 0, static_cast<std::uint32_t>(bytes)}, send.remote};
      const auto* const from = static_cast<const std::byte*>(send.request->buffer.base) + left - bytes;
      if (peer.endpoint->send(wire::bytes_of(header), {from, static_cast<std::size_t>(bytes)}) == Post::again)
        break;
      left -= bytes;
      if (left == 0) rendezvous_->finish(send, Fault::none);
    }
    return events;
  }
  [[nodiscard]] bool drop(Transfer&) noexcept override { return true; }
  void lose(Peer&) noexcept override {}

  /// Messages that a peer has asked for so; nothing if it never has.
  [[nodiscard]] std::optional<std::size_t> asked_by(Peer& peer) const noexcept {
    const auto* const known = static_cast<const Known*>(rendezvous_->with(peer, number_).state.get());
    return known != nullptr ? std::optional(known->asked) : std::nullopt;
  }
  std::size_t received = 0;  ///< messages

 private:
  struct Ask {
    wire::Prefix prefix;
    std::uint64_t sender_id, receiver_id, bytes;
  };
  struct Left {
    explicit Left(std::uint64_t all) noexcept : bytes(all) {}
    std::uint64_t bytes;
  };
  struct Known final : ProtocolState {
    std::size_t asked = 0;
  };

  void on_ask(Peer& peer, std::span<const std::byte> message) noexcept {
    Ask ask;
    if (!wire::read(message, ask)) return rendezvous_->malformed(peer, "it asks too shortly");
    Transfer* const send = rendezvous_->take_announced(peer, ask.sender_id, number_);
    if (send == nullptr) return;
    auto& state = rendezvous_->with(peer, number_).state;
    if (state == nullptr) state.reset(new (std::nothrow) Known);
    if (state != nullptr) ++static_cast<Known&>(*state).asked;
    const std::uint64_t bytes = std::min(ask.bytes, send->total);
    rendezvous_->count(*send, bytes);
    send->remote = ask.receiver_id;
    send->make_state<Left>(bytes);
    rendezvous_->queue(*send);
  }
  void on_piece(Peer& peer, std::span<const std::byte> message) noexcept {
    wire::Data header;
    if (!wire::read(message, header) || message.size() - sizeof header < header.prefix.length)
      return rendezvous_->malformed(peer, "a piece is shorter than it says");
    Transfer* const receive = rendezvous_->receiving(peer, header.receiver_id, number_);
    if (receive == nullptr) return;
    std::uint64_t& left = receive->state<Left>().bytes;
    if (header.prefix.length > left) return rendezvous_->malformed(peer, "a piece begins before its message");
    left -= header.prefix.length;
    receive->moved += header.prefix.length;
    auto* const to = static_cast<std::byte*>(receive->request->buffer.base) + left;
    std::memcpy(to, message.data() + sizeof header, header.prefix.length);
    if (left != 0) return;
    ++received;
    rendezvous_->finish(*receive, Fault::none);
  }

  Rendezvous* rendezvous_ = nullptr;
  Large number_{};
};

}  // namespace starling::pml

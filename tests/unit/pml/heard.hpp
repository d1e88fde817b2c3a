// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A port beside the pml's that notes what it gets. Layer: test.

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "frameworks/peer/peers.hpp"

namespace starling::pml::test {

inline constexpr std::uint8_t kOther = 100;  ///< a kind that no pml has

inline constexpr std::array kOtherKinds{peer::KindFacts{kOther, peer::Order::kept}};

class Heard final : public peer::Port {
 public:
  explicit Heard(peer::Peers& peers) noexcept : peers_(peers) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "heard"; }
  void receive(peer::Peer& from, std::span<const std::byte> message) noexcept override {
    const auto payload = peers_.payload(from, message);
    if (!payload) return;
    last_from = from.proc;
    messages.emplace_back(payload->begin(), payload->end());
  }
  void lose(peer::Peer& peer) noexcept override { lost.push_back({peer.proc, peer.fault}); }

  struct Lost {
    ProcId proc;
    peer::Fault fault;
  };
  ProcId last_from;
  std::vector<std::vector<std::byte>> messages;
  std::vector<Lost> lost;

 private:
  peer::Peers& peers_;
};

}  // namespace starling::pml::test

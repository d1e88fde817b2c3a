// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  bootstrap/flat: every process publishes its addresses, one fence, peers looked up on first contact.
/// Layer: plugin.
///
/// The reference that other bootstraps are compared with. Where every transport computes its addresses (one
/// node) nothing is published and no fence runs. Threads, ownership, errors: as bootstrap.hpp says.

#include <vector>

#include "frameworks/bootstrap/agreement.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/card_client.hpp"
#include "frameworks/bootstrap/consistency.hpp"
#include "frameworks/bootstrap/exchanges.hpp"
#include "frameworks/bootstrap/group_mode.hpp"

namespace starling::bootstrap {

class Flat final : public Component {
 public:
  explicit Flat(const Args& args);

  Result<void> publish(const std::vector<LocalAddress>& addresses) override {
    return card_client_.publish(addresses);
  }
  Result<void> expose() override { return card_client_.expose(); }
  Result<ContextId> create(const Creation& creation, Deadline deadline) override;
  Result<ContextId> next_context_id() override { return agreement_.next_context_id(); }
  bool exchanges_over_roots() const noexcept override { return false; }
  void on_control(ProcId from, std::span<const std::byte> message) noexcept override {
    agreement_.on_control(from, message);
  }
  void on_block(ProcId from, Block block) noexcept override;
  Result<btl::Found> address(ProcId peer, std::string_view transport) override {
    return card_client_.address(peer, transport);
  }

 private:
  [[nodiscard]] Result<void> prepare(const Consistency::Call& call, Deadline deadline);
  /// In the tree of the agreement.
  [[nodiscard]] std::vector<ProcId> neighbours(const Consistency::Call& call) const;
  [[nodiscard]] bool reaches(ProcId proc);
  [[nodiscard]] Result<void> can_meet(const Creation& creation) const;

  pmi::Component& pmi_;
  ControlChannel& control_channel_;
  ProcId self_;
  const NodeMap* nodes_;
  std::uint32_t world_size_;
  GroupMode mode_;
  CardClient card_client_;
  Exchanges exchanges_;
  Consistency consistency_;
  Agreement agreement_;
};

}  // namespace starling::bootstrap

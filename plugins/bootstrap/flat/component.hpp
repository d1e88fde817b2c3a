// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  bootstrap/flat: every process publishes its address, one fence, peers looked up on first contact.
/// Layer: plugin.
///
/// The reference that other bootstraps are compared with. Where every transport computes its addresses (one
/// node) nothing is published and no fence runs. Threads, ownership, errors: as bootstrap.hpp says.

#include <string>

#include "frameworks/bootstrap/agreement.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"

namespace starling::bootstrap {

class Flat final : public Component {
 public:
  explicit Flat(const Args& args);
  /// Puts the published addresses; nothing is visible before a fence unless the process manager can do
  /// better.
  [[nodiscard]] Result<void> publish();

  Result<ContextId> create(const Creation& creation, Deadline deadline) override;
  Result<ContextId> next_context_id() override { return agreement_.next_context_id(); }
  void on_control(ProcId from, std::span<const std::byte> message) noexcept override {
    agreement_.on_control(from, message);
  }
  Result<std::vector<std::byte>> address(ProcId peer, std::string_view transport) override;

 private:
  [[nodiscard]] Result<void> exchange(const Creation& creation, Deadline deadline);
  [[nodiscard]] std::uint64_t timeout_seconds() const;

  params::Registry& params_;
  pmi::Component& pmi_;
  Courier& courier_;
  ProcId self_;
  std::uint32_t world_size_;
  std::vector<LocalAddress> published_;
  Agreement agreement_;
  bool world_exchanged_ = false;               // a completed fence of the whole world covers every group
  std::vector<ProcListPtr> exchanged_groups_;  // completed fences of groups
};

}  // namespace starling::bootstrap

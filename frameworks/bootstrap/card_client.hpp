// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Cards by way of the process manager: puts the own one, asks for others'. Layer: framework.
///
/// Threads:   one at a time.
/// Ownership: pmi outlives it.
/// Errors:    a card that is not published within the limit (counted from the first question): timed_out,
///            naming the rank.

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/btl/address.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::bootstrap {

class CardClient {
 public:
  /// `limit_seconds` 0: for ever.
  CardClient(pmi::Component& pmi, std::uint64_t limit_seconds) : pmi_(pmi), limit_seconds_(limit_seconds) {}

  /// Makes the own card, once per process. The empty list says that this process has no address at all.
  [[nodiscard]] Result<void> publish(const std::vector<LocalAddress>& addresses);
  /// Puts the own card, if there is one and it was not put yet: only those whom others look for need it.
  [[nodiscard]] Result<void> expose();
  [[nodiscard]] const std::vector<std::byte>& own_card() const noexcept { return own_; }

  /// The card of another process that did not come through the process manager.
  void learn(ProcId peer, std::vector<std::byte> card) { learned_[peer] = std::move(card); }
  /// The whole card of another process.
  [[nodiscard]] Result<btl::Found> card(ProcId peer);
  [[nodiscard]] Result<btl::Found> address(ProcId peer, std::string_view transport);

 private:
  pmi::Component& pmi_;
  std::uint64_t limit_seconds_;
  std::vector<std::byte> own_;
  bool exposed_ = false;
  std::optional<std::pair<ProcId, std::vector<std::byte>>>
      last_;  // a peer is asked about transport by transport
  std::unordered_map<ProcId, std::vector<std::byte>> learned_;
  std::unordered_map<ProcId, Deadline> awaited_;  // not published when they were asked for
};

}  // namespace starling::bootstrap

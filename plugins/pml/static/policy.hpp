// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  pml/static: the way of each large message follows from its size alone. Layer: plugin (pml/static).
///
/// Threads:   the pml's. Ownership: values only. Errors: none. Units: bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "frameworks/pml/engine.hpp"

namespace starling::pml {

/// In the order of pml_static_large's choices.
enum class StaticLarge : std::uint8_t { automatic = 0, ring = 1, get = 2 };

struct StaticConfig {
  ProcId self;
  StaticLarge large = StaticLarge::automatic;
  bool calibrate = true;
  std::uint64_t get_min = 0;           ///< below this many bytes never a get
  std::uint64_t lend_min = 32 * 1024;  ///< below this many bytes never a loan
};

class StaticPolicy final : public LargePolicy {
 public:
  explicit StaticPolicy(const StaticConfig& config) : config_(config) {}
  [[nodiscard]] Large choose(const Peer& peer, std::uint64_t bytes, bool both) noexcept override;
  [[nodiscard]] bool lends(const Peer& peer) const noexcept override;
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  StaticConfig config_;
  bool calibrated_ = false;
  std::uint64_t get_from_ = 0;
  std::string note_;
};

}  // namespace starling::pml

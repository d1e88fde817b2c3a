// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  pml/dynamic: the protocol of each large message follows from what the pair has found. Layer: plugin
/// (pml/dynamic).
///
/// model: for each peer, class of sizes, direction (one way, both ways) and kind of memory the first messages
/// try each protocol that is possible (core/trial.hpp); what other pairs of the same distance have found
/// stands until then. popcount: the rule of the paper by Suresh et al. (docs/design/dynamic.md), for memory
/// that can be mapped.
/// Threads:   the pml's. Ownership: owns the findings' file. Errors: none; without memory for a peer's
///            trials the first possible protocol serves. Units: bytes and nanoseconds.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/trial.hpp"
#include "frameworks/pml/rendezvous.hpp"
#include "frameworks/pml/size_classes.hpp"
#include "frameworks/pml/trials_file.hpp"
#include "plugins/pml/dynamic/claim.hpp"

namespace starling::pml {

/// In the order of pml_dynamic_policy's choices.
enum class DynamicRule : std::uint8_t { model = 0, popcount = 1 };
/// In the order of pml_dynamic_large's choices.
enum class DynamicLarge : std::uint8_t { automatic = 0, ring = 1, get = 2, lend = 3, claim = 4 };

struct DynamicConfig {
  ProcId self;
  DynamicRule rule = DynamicRule::model;
  DynamicLarge large = DynamicLarge::automatic;
  shm::Steal steal = shm::Steal::automatic;
  std::uint64_t lend_min = 32 * 1024;
};

/// Number of the protocol behind the standard ones.
inline constexpr Large kClaim{3};

class DynamicPolicy final : public Chooser, public CopyPlan {
 public:
  DynamicPolicy(const DynamicConfig& config, std::unique_ptr<TrialsFile> trials)
      : config_(config), trials_(std::move(trials)), findings_(trials_->findings()) {}

  [[nodiscard]] LargeChoice choose(const LargeReceive& receive) noexcept override;
  void took(std::uint32_t trial, std::uint64_t bytes, std::uint64_t ns) noexcept override;
  [[nodiscard]] std::vector<std::string> notes() const override;

  [[nodiscard]] CopyShape shape(const Peer& peer, std::uint64_t bytes) noexcept override;
  void took_part(const Peer& peer, std::uint64_t bytes, std::uint64_t who) noexcept override;

  static constexpr unsigned kClasses = SizeClasses::kCount;
  static constexpr unsigned kOptions = Findings::kOptions;
  static constexpr TrialPace kPace{.settling = 1, .holding = 32768, .margin = 16};
  /// Messages that a pair does as others have found before it tries for itself.
  static constexpr std::uint32_t kAdopted = 1024;
  static constexpr std::uint64_t kStretchBytes = 1024 * 1024;
  /// popcount: chunks of a pair's first message.
  static constexpr std::uint64_t kFirstChunk = 1024;

 private:
  using Protocols = std::array<Large, kOptions>;
  struct Tried {
    explicit Tried(unsigned how_many) noexcept : trial(kPace, how_many) {}
    Trial<kOptions> trial;
    Protocols protocols{};
    unsigned count = 0;
    std::uint64_t bytes = 0;  // of the stretch so far
    std::uint64_t ns = 0;
  };
  struct Pair {
    const Peer* peer = nullptr;
    std::array<std::unique_ptr<Tried>, 4 * kClasses> tried;  // by slot_of()
    std::array<std::uint8_t, kClasses> took_part{};          // popcount of the last copy; 0: none yet
  };
  struct Choice {
    Protocols protocols{};
    unsigned count = 0;
  };

  [[nodiscard]] Choice possible(const LargeReceive& receive, bool mapped) const noexcept;
  [[nodiscard]] Pair* pair(const Peer& peer) noexcept;
  [[nodiscard]] Tried* tried(Pair& pair, unsigned slot, const Choice& choice) noexcept;
  [[nodiscard]] Findings::Key key_of(const Pair& pair, unsigned slot) const noexcept;
  void adopt(Tried& tried, const Findings::Key& key) noexcept;
  [[nodiscard]] LargeChoice model(const LargeReceive& receive) noexcept;
  static unsigned slot_of(bool both, bool mapped, unsigned size_class) noexcept {
    return ((both ? 2 : 0) + (mapped ? 1 : 0)) * kClasses + size_class;
  }

  DynamicConfig config_;
  std::unique_ptr<TrialsFile> trials_;
  Findings& findings_;
  std::unordered_map<const Peer*, std::uint32_t> numbers_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::uint64_t private_ = 0;  // messages that the rule could not be applied to
  bool starved_ = false;
};

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  pml/static: the protocol of each large message follows from its size. Layer: plugin (pml/static).
///
/// Where two protocols are possible within a node, the first messages of a size decide (core/trial.hpp): ring
/// or get while one side of a pair sends, get or loan while both do; then the lower of the two decides, and
/// the other does as it does.
/// Threads:   the pml's. Ownership: values only. Errors: none. Units: bytes and nanoseconds.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/backoff.hpp"
#include "core/trial.hpp"
#include "frameworks/pml/engine.hpp"
#include "frameworks/pml/size_classes.hpp"
#include "frameworks/pml/trials_file.hpp"

namespace starling::pml {

/// In the order of pml_static_large's choices.
enum class StaticLarge : std::uint8_t { automatic = 0, ring = 1, get = 2 };

struct StaticConfig {
  ProcId self;
  StaticLarge large = StaticLarge::automatic;
  std::uint64_t get_min = 0;           ///< below this many bytes never a get
  std::uint64_t lend_min = 32 * 1024;  ///< below this many bytes never a loan
};

class StaticPolicy final : public Chooser {
 public:
  /// `trials`: where findings come from and go to; null: they are this process's.
  explicit StaticPolicy(const StaticConfig& config, std::unique_ptr<TrialsFile> trials = nullptr)
      : trials_(std::move(trials)), config_(config) {}
  [[nodiscard]] LargeChoice choose(const LargeReceive& receive) noexcept override;
  void took(std::uint32_t trial, std::uint64_t bytes, std::uint64_t ns) noexcept override;
  [[nodiscard]] std::vector<std::string> notes() const override;

  static constexpr TrialPace kPace{.settling = 1, .holding = 32768, .margin = 16};
  /// Messages that use what other processes have found, before this process tries for itself.
  static constexpr std::uint32_t kAdopted = 1024;
  /// Bytes that are timed together, in messages of any size: messages end in bursts of at most half of this.
  static constexpr std::uint64_t kStretchBytes = 1024 * 1024;
  /// A message by the ring that takes longer than two gets and this had a late sender.
  static constexpr std::uint64_t kLateNs = 20'000;
  /// Whether a choice is timed to see that, and is of no trial.
  [[nodiscard]] static bool watched(const LargeChoice& choice) noexcept {
    return (choice.trial & kWatched) != 0;
  }

 private:
  static constexpr std::uint32_t kWatched = 1u << 31;

  /// Costs in nanoseconds per MiB.
  struct Tried {
    Trial<2> trial{kPace};
    std::uint64_t bytes = 0;  // of the stretch so far
    std::uint64_t ns = 0;
    bool begun = false;
  };
  struct Sizes {
    Tried one_way;          // ring, get
    Tried both_ways;        // get, lend
    Backoff<16, 256> ring;  // where it was faster: fails with senders that are late
  };
  [[nodiscard]] LargeChoice by_ring(const LargeReceive& receive, unsigned size_class) noexcept;
  void adopt(Tried& tried, unsigned size_class, bool both, const Peer& peer) noexcept;

  std::array<Sizes, SizeClasses::kCount> sizes_;
  std::unique_ptr<TrialsFile> trials_;
  StaticConfig config_;
};

}  // namespace starling::pml

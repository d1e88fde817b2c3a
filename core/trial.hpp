// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Chooses the cheapest of several options for the same work, by trying them. Layer: core.
///
/// For what depends on the machine so much that neither a constant nor a measurement in one process tells:
/// each option in turn does real work a few times, or, with kTurns, less often and in so many turns: that
/// suits work that may change while the trial goes on. Costs are full of what has nothing to do with it:
/// pauses of the program and other processes make them too high, work that was waiting to be done too low. So
/// the lower quartile of several stands for each option, and the first ones after a change do not count. The
/// choice holds for a while and is then tried again, since a virtual machine may move.
/// Threads: one at a time. Units: costs in any one unit.

#include <algorithm>
#include <array>
#include <cstdint>

namespace starling {

struct TrialPace {
  std::uint32_t settling;    ///< costs after each change that do not count
  std::uint32_t holding;     ///< between two trials
  std::uint32_t margin = 8;  ///< an option is left for one that costs less by more than this part of it
};

template <unsigned kOptions, unsigned kTurns = 1>
class Trial {
 public:
  static constexpr std::uint32_t kCounting = 8;  ///< costs of each option that count

  explicit Trial(const TrialPace& pace, unsigned options = kOptions) noexcept
      : pace_(pace), options_(options) {
    begin();
  }
  /// What others have found stands until `until` have been done; then this one tries for itself.
  void adopt(unsigned option, const std::array<std::uint64_t, kOptions>& costs,
             std::uint32_t until) noexcept {
    holding_ = true;
    option_ = option < options_ ? option : 0;
    cost_ = costs;
    done_ = pace_.holding - std::min(pace_.holding, until);
  }

  /// How to do it now: below kOptions. The first ones are tried first, and stay where none is cheaper by the
  /// margin.
  [[nodiscard]] unsigned option() const noexcept { return option_; }
  /// Whether a trial goes on: else costs are not looked at.
  [[nodiscard]] bool trying() const noexcept { return !holding_; }
  /// The work was done by option(), at this cost. True: with this a trial has ended.
  bool took(std::uint64_t cost) noexcept {
    ++done_;
    if (holding_) {
      if (done_ == pace_.holding) begin();
      return false;
    }
    auto& costs = costs_[kTurns == 1 ? 0 : option_];
    if (done_ > pace_.settling) costs[turn_ * kInTurn + done_ - pace_.settling - 1] = cost;
    if (done_ < pace_.settling + kInTurn) return false;
    done_ = 0;
    if (turn_ == kTurns - 1) {
      std::nth_element(costs.begin(), costs.begin() + kQuartile, costs.end());
      cost_[option_] = costs[kQuartile];
    }
    if (++option_ < options_) return false;
    option_ = 0;
    if (++turn_ < kTurns) return false;
    turn_ = 0;
    holding_ = true;
    for (unsigned other = 1; other < options_; ++other) {
      if (cost_[other] < cost_[option_] - cost_[option_] / pace_.margin) option_ = other;
    }
    return true;
  }
  /// What an option cost when it was tried last; 0: it has not been.
  [[nodiscard]] std::uint64_t cost(unsigned option) const noexcept { return cost_[option]; }

 private:
  static constexpr std::uint32_t kQuartile = kCounting / 4;
  static constexpr std::uint32_t kInTurn = kCounting / kTurns;
  static_assert(kInTurn * kTurns == kCounting);
  void begin() noexcept {
    holding_ = false;
    done_ = option_ = 0;
  }
  TrialPace pace_;
  unsigned options_ = kOptions;
  bool holding_ = false;
  unsigned option_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t done_ = 0;  // by this option in its turn, or since the trial has ended
  // Of this option; with several turns, of each.
  std::array<std::array<std::uint64_t, kCounting>, kTurns == 1 ? 1 : kOptions> costs_{};
  std::array<std::uint64_t, kOptions> cost_{};
};

}  // namespace starling

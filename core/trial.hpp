// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Chooses the cheapest of several ways to do the same, by doing it. Layer: core.
///
/// For what depends on the machine so much that neither a constant nor a measurement in one process tells:
/// each way in turn does real work a few times. Costs are full of what has nothing to do with the way: pauses
/// of the program and other processes make them too high, work that was waiting to be done too low. So the
/// lower quartile of several stands for each way, and the first ones after a change do not count. The choice
/// holds for a while and is then tried again, since a virtual machine may move.
/// Threads: one at a time. Units: costs in any one unit.

#include <algorithm>
#include <array>
#include <cstdint>

namespace starling {

struct TrialPace {
  std::uint32_t settling;    ///< after each change, so many do not count
  std::uint32_t holding;     ///< between two trials
  std::uint32_t margin = 8;  ///< a way is left for one that costs less by more than this part of it
};

template <unsigned kWays>
class Trial {
 public:
  static constexpr std::uint32_t kCounting = 8;  ///< that count, of each way

  explicit Trial(const TrialPace& pace, unsigned ways = kWays) noexcept : pace_(pace), ways_(ways) {
    begin();
  }
  /// What others have found stands until so many have been done; then this one tries for itself.
  void adopt(unsigned way, const std::array<std::uint64_t, kWays>& costs, std::uint32_t until) noexcept {
    holding_ = true;
    way_ = way < ways_ ? way : 0;
    cost_ = costs;
    done_ = pace_.holding - std::min(pace_.holding, until);
  }

  /// How to do it now: below kWays. The first ones are tried first, and stay where none is cheaper by the
  /// margin.
  [[nodiscard]] unsigned way() const noexcept { return way_; }
  /// Whether a trial goes on: else costs are not looked at.
  [[nodiscard]] bool trying() const noexcept { return !holding_; }
  /// It has been done in this way, at this cost. True: with this a trial has ended.
  bool took(std::uint64_t cost) noexcept {
    ++done_;
    if (holding_) {
      if (done_ == pace_.holding) begin();
      return false;
    }
    if (done_ > pace_.settling) costs_[done_ - pace_.settling - 1] = cost;
    if (done_ < pace_.settling + kCounting) return false;
    done_ = 0;
    std::nth_element(costs_.begin(), costs_.begin() + kQuartile, costs_.end());
    cost_[way_] = costs_[kQuartile];
    if (++way_ < ways_) return false;
    holding_ = true;
    way_ = 0;
    for (unsigned other = 1; other < ways_; ++other) {
      if (cost_[other] < cost_[way_] - cost_[way_] / pace_.margin) way_ = other;
    }
    return true;
  }
  /// What a way has cost when it was tried last; 0: it has not been.
  [[nodiscard]] std::uint64_t cost(unsigned way) const noexcept { return cost_[way]; }

 private:
  static constexpr std::uint32_t kQuartile = kCounting / 4;
  void begin() noexcept {
    holding_ = false;
    done_ = way_ = 0;
  }
  TrialPace pace_;
  unsigned ways_ = kWays;
  bool holding_ = false;
  unsigned way_ = 0;
  std::uint32_t done_ = 0;                        // in this way, or since the trial has ended
  std::array<std::uint64_t, kCounting> costs_{};  // in this way
  std::array<std::uint64_t, kWays> cost_{};
};

}  // namespace starling

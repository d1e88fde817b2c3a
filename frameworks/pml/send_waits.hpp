// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Whether this process mostly waits for one peer to look at its long messages. Layer: framework
/// (pml). See docs/design/early-push.md, "When it is used".
///
/// Threads:   the pml's. Ownership: Peer's. Errors: none.
/// Units:     bytes and nanoseconds.

#include <algorithm>
#include <array>
#include <cstdint>

#include "frameworks/pml/size_classes.hpp"

namespace starling::pml {

class SendWaits {
 public:
  /// Whether the wait for the message of this number is measured: of the first ones, and later of one in
  /// eight, in no pattern that a program could have.
  [[nodiscard]] static bool sampled(std::uint64_t number) noexcept {
    return number < 16 || hash(number) < kOneInEight;
  }
  /// Of these, those that are announced to be measured though their receive is known to wait.
  [[nodiscard]] static bool sampled_again(std::uint64_t number) noexcept {
    return hash(number) < kOneInEight / 4;
  }

  /// From when this process did nothing but wait to the answer.
  void waited(std::uint64_t bytes, std::uint64_t ns) noexcept {
    std::uint8_t& score = scores_[SizeClasses::of(bytes)];
    // As much as a slow copy takes: a receiver that is copying something else is not elsewhere.
    const bool in_vain = ns > kPromptNs + bytes / kBytesPerNs;
    score = static_cast<std::uint8_t>(in_vain ? std::min(score + 1, kMost) : std::max(score - 4, 0));
  }
  [[nodiscard]] bool mostly(std::uint64_t bytes) const noexcept {
    return scores_[SizeClasses::of(bytes)] >= kMany;
  }

 private:
  static constexpr std::uint32_t kOneInEight = 1u << 29;
  static constexpr std::uint64_t kPromptNs = 10'000, kBytesPerNs = 4;
  static constexpr int kMost = 8, kMany = 6;

  [[nodiscard]] static std::uint32_t hash(std::uint64_t number) noexcept {
    return static_cast<std::uint32_t>(number * 0x9e3779b1u);
  }

  std::array<std::uint8_t, SizeClasses::kCount> scores_{};
};

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How late this process looks at long messages of one peer for which receives wait: whether it is
/// mostly elsewhere when they come. Layer: framework (pml).
///
/// Some messages say when they left (one clock serves a node). Who looks at once is in the library, and
/// copies with its sender at once; who looks late has let its sender wait.
///
/// Threads:   the pml's. Ownership: Peer's. Errors: a stamp that makes no sense is none.
/// Units:     bytes; stamps in 1024 ns, 0: none.

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/clock.hpp"
#include "frameworks/pml/size_classes.hpp"

namespace starling::pml {

class Lateness {
 public:
  /// Whether the message of this number says when it left: the first ones, and later one of eight, in no
  /// pattern that a program could have, since that costs two looks at the clock.
  [[nodiscard]] static bool sampled(std::uint64_t number) noexcept {
    return number < 16 || static_cast<std::uint32_t>(number * 0x9e3779b1u) < 0x20000000u;
  }
  [[nodiscard]] static std::uint32_t stamp() noexcept { return std::max(now(), 1u); }

  /// A message with a stamp, not 0, is looked at for which a receive of so many bytes waits.
  void looked(std::uint64_t bytes, std::uint32_t stamp) noexcept { looked_after(bytes, now() - stamp); }
  void looked_after(std::uint64_t bytes, std::uint32_t age) noexcept {
    if (age > kNonsense) return;
    std::uint8_t& score = scores_[SizeClasses::of(bytes)];
    // As much as a slow copy takes: a receiver that is copying something else is not elsewhere.
    const bool late = age > kPrompt + bytes / kBytesPerUnit;
    score = late ? static_cast<std::uint8_t>(std::min(score + 1, kMost))
                 : static_cast<std::uint8_t>(std::max(score - 2, 0));
  }
  /// Mostly late for receives of that length.
  [[nodiscard]] bool often(std::uint64_t bytes) const noexcept {
    return scores_[SizeClasses::of(bytes)] >= kOften;
  }

 private:
  static constexpr std::uint32_t kNonsense = 60'000'000, kPrompt = 10;
  static constexpr std::uint64_t kBytesPerUnit = 4096;  // 4 GB/s
  static constexpr int kMost = 8, kOften = 4;

  [[nodiscard]] static std::uint32_t now() noexcept { return static_cast<std::uint32_t>(now_ns() >> 10); }

  std::array<std::uint8_t, SizeClasses::kCount> scores_{};
};

}  // namespace starling::pml

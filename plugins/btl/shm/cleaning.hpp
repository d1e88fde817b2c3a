// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Finds out when the cells of long records are better cleaned or left as they are. Layer: plugin.
///
/// A reader that cleans moves the lines of a record into its own cache (lane.hpp). On some processors that
/// makes the writer faster than it costs the reader, on others it costs as much as the copy; the factor is up
/// to two either way, and nothing else tells which. A reader that has nothing else to do can mostly afford
/// it, one in the middle of a stream mostly not: so this is tried first, and stays unless another way is
/// clearly faster. What is timed is a stretch: a fixed number of bytes in long records of one lane, until
/// they have been read. The ways take turns after two stretches that count, since a program that goes over to
/// messages of another length meanwhile would make the way that it has just then look fast or slow.
/// Threads: one at a time. Units: nanoseconds for a stretch.

#include <cstdint>

#include "core/trial.hpp"
#include "plugins/btl/shm/lane.hpp"

namespace starling::btl {

/// In the order of shm_lane_cleaning's choices; behind the first one, of CleanLong's.
enum class LongCleaning : std::uint8_t { automatic, when_idle, never, always };

class Cleaning {
 public:
  /// A lane of the default size. So the stretch after a change, which does not count, is a lap, on cells that
  /// were read the other way.
  static constexpr std::uint32_t kStretchBytes = 512 * 1024;
  static constexpr TrialPace kPace{.settling = 1, .holding = 1024};

  explicit Cleaning(LongCleaning use) noexcept : use_(use), trial_(kPace) {}

  /// When to clean now.
  [[nodiscard]] CleanLong when() const noexcept {
    return use_ == LongCleaning::automatic ? static_cast<CleanLong>(trial_.option())
                                           : static_cast<CleanLong>(static_cast<unsigned>(use_) - 1);
  }
  /// A stretch has been read. True: a trial has ended.
  bool took(std::uint64_t stretch_ns) noexcept {
    return use_ == LongCleaning::automatic && trial_.took(stretch_ns);
  }
  /// What the last trial has measured.
  [[nodiscard]] std::uint64_t cost_ns(CleanLong when) const noexcept {
    return trial_.cost(static_cast<unsigned>(when));
  }

 private:
  LongCleaning use_;
  Trial<3, 4> trial_;  // CleanLong
};

}  // namespace starling::btl

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Finds out whether the cells of long records are better cleaned or left as they are. Layer: plugin.
///
/// A reader that cleans moves the lines of a record into its own cache (lane.hpp). On some processors that
/// makes the writer faster than it costs the reader, on others it costs as much as the copy; the factor is up
/// to two either way, and nothing else tells which. What is timed is a stretch: a fixed number of bytes in
/// long records of one lane, until they have been read.
/// Threads: one at a time. Units: nanoseconds for a stretch.

#include <cstdint>

#include "core/trial.hpp"

namespace starling::btl {

/// In the order of shm_lane_cleaning's choices.
enum class LongCleaning : std::uint8_t { automatic, always, never };

class Cleaning {
 public:
  /// What a reader that came late finds is at most a lane of the default size: it is as fast either way.
  static constexpr std::uint32_t kStretchBytes = 512 * 1024;
  static constexpr TrialPace kPace{.settling = 1, .holding = 1024};

  explicit Cleaning(LongCleaning use) noexcept : use_(use), trial_(kPace) {}

  /// Whether to clean now.
  [[nodiscard]] bool on() const noexcept {
    return use_ == LongCleaning::automatic ? trial_.option() == 1 : use_ == LongCleaning::always;
  }
  /// A stretch has been read. True: a trial has ended.
  bool took(std::uint64_t stretch_ns) noexcept {
    return use_ == LongCleaning::automatic && trial_.took(stretch_ns);
  }
  /// What the last trial has measured.
  [[nodiscard]] std::uint64_t cost_ns(bool cleaned) const noexcept { return trial_.cost(cleaned ? 1 : 0); }

 private:
  LongCleaning use_;
  Trial<2> trial_;  // left, cleaned
};

}  // namespace starling::btl

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Monotonic time and deadlines. Layer: core. Units: nanoseconds. Threads: any.

#include <cstdint>
#include <ctime>
#include <limits>

namespace starling {

[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

/// A point in monotonic time by which something must have happened. The default one never passes.
class Deadline {
 public:
  constexpr Deadline() = default;
  [[nodiscard]] static Deadline after_ns(std::uint64_t ns) noexcept { return Deadline{now_ns() + ns}; }
  /// 0 seconds means: wait for ever (the convention of every time-out parameter).
  [[nodiscard]] static Deadline after_seconds(std::uint64_t seconds) noexcept {
    return seconds == 0 ? Deadline{} : after_ns(seconds * 1'000'000'000u);
  }
  [[nodiscard]] bool passed() const noexcept { return at_ns_ != kNever && now_ns() >= at_ns_; }
  [[nodiscard]] bool never() const noexcept { return at_ns_ == kNever; }
  /// Nanoseconds left; 0 when passed, the type's maximum when it never passes.
  [[nodiscard]] std::uint64_t left_ns() const noexcept {
    if (at_ns_ == kNever) return kNever;
    const std::uint64_t now = now_ns();
    return now >= at_ns_ ? 0 : at_ns_ - now;
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  explicit constexpr Deadline(std::uint64_t at_ns) : at_ns_(at_ns) {}
  std::uint64_t at_ns_ = kNever;
};

}  // namespace starling

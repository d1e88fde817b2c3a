// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How often to try again what has failed, where something else does the work meanwhile. Layer: core.
///
/// After the first failure the next kFirst pieces of work are left to that, then twice as many, up to kMost.
/// A success forgets it all.
/// Threads: one at a time.

#include <algorithm>
#include <cstdint>

namespace starling {

template <std::uint16_t kFirst, std::uint16_t kMost>
class Backoff {
 public:
  /// Whether to try with the next piece of work.
  [[nodiscard]] bool tries() noexcept {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  void failed() noexcept {
    pause_ = pause_ == 0 ? kFirst : static_cast<std::uint16_t>(std::min<std::uint32_t>(2u * pause_, kMost));
    left_ = pause_;
  }
  void succeeded() noexcept { pause_ = 0; }

 private:
  std::uint16_t left_ = 0, pause_ = 0;
};

}  // namespace starling

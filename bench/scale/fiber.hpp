// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Functions that stop in the middle and go on later, all on one thread. Layer: bench.
///
/// The shipped code waits inside its calls, so each simulated process needs a stack of its own.
/// Threads:   one.
/// Ownership: Stacks outlives its fibers; a Fiber stays where it is.
/// Errors:    a stack that was too small ends the program, as seen when the fiber stops.
/// Units:     bytes.

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace starling::scale {

/// Address space for many stacks; memory is taken as it is touched.
class Stacks {
 public:
  static constexpr std::size_t kBytes = 32 * 1024;
  explicit Stacks(std::size_t count);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  [[nodiscard]] std::byte* stack(std::size_t index) const noexcept { return memory_ + index * kBytes; }

 private:
  friend class Fiber;
  std::byte* memory_;
  std::size_t bytes_;
  ucontext_t caller_{};  // whoever resumed the fiber that runs
};

class Fiber {
 public:
  /// `run` is called at the first resume().
  Fiber(Stacks& stacks, std::size_t index, std::function<void()> run);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  /// Goes on until the fiber stops or ends. Not from inside of it.
  void resume();
  /// From inside: returns at the next resume().
  void stop();
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  static void enter(unsigned high, unsigned low);

  Stacks& stacks_;
  std::byte* stack_;
  std::function<void()> run_;
  ucontext_t here_{};
  bool ended_ = false;
};

}  // namespace starling::scale

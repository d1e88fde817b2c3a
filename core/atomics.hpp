// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The atomics that shared structures are written against. Layer: core.
///
/// Every structure that two processes touch is a template over such a policy, so that a model checker can run
/// the very same code with its own atomics (tests/model). std::atomic's wait and notify are never used on
/// shared memory: libstdc++ waits on a process-private futex, so that the other process would never wake.
///
/// Threads: value-free policy; any.

#include <atomic>
#include <cstdint>

namespace starling {

struct StdAtomics {
  template <class T>
  using Atomic = std::atomic<T>;
  static void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }
  /// Orders nothing but the compiler: for a side of a handshake for which the other side fences (membarrier).
  static void compiler_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "atomics in shared memory must not use locks of one process");

}  // namespace starling

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A futex, as models see it. Layer: tests.

#include "tests/model/model.hpp"

namespace starling::model {

/// What the kernel promises about a futex word.
class Futex {
 public:
  void wait(ModelAtomic<std::uint32_t>& word, std::uint32_t value) {
    mutex_.lock($);
    if (word.load(std::memory_order_relaxed) == value) {
      if (interrupts != nullptr) interrupts->rests();
      changed_.wait(mutex_, $);
      if (interrupts != nullptr) interrupts->runs();
    }
    mutex_.unlock($);
  }
  void wake() {
    mutex_.lock($);
    changed_.notify_all($);
    mutex_.unlock($);
  }
  void wake_one() {
    mutex_.lock($);
    changed_.notify_one($);
    mutex_.unlock($);
  }

 private:
  rl::mutex mutex_;
  rl::condition_variable_any changed_;
};

}  // namespace starling::model

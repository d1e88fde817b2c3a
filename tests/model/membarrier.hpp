// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The kernel's fence for all processes, as models see it. Layer: tests.
///
/// membarrier interrupts every thread of the registered processes wherever it happens to be; the thread
/// passes a full fence there and goes on. Here a thread looks for such an interrupt before each step on an
/// atomic. It always sees one that is there; how far the thread has come by then is the scheduler's choice.
/// A thread that sleeps or has ended is not running, and passes its fence when it gives the processor away.

#include "tests/model/model.hpp"

namespace starling::model {

template <unsigned kThreads>
class Membarrier final : public Interrupts {
 public:
  ~Membarrier() { interrupts = nullptr; }
  /// Before the threads of an iteration start.
  void begin() { interrupts = this; }

  /// The sleeper: afterwards every other thread has passed a full fence, or does not run.
  void fence_all() {
    const unsigned me = rl::thread_index();
    ModelAtomics::fence(std::memory_order_seq_cst);
    for (unsigned other = 0; other < kThreads; ++other) {
      if (other == me) continue;
      const unsigned number = asked_[other].fetch_add(1, rl::mo_acq_rel, $) + 1;
      while (passed_[other].fetch_add(0, rl::mo_acq_rel, $) < number &&
             running_[other].fetch_add(0, rl::mo_acq_rel, $) != 0) {
        look();  // two may do it at once
        wait_a_little();
      }
    }
    ModelAtomics::fence(std::memory_order_seq_cst);
  }
  /// A thread starts, or goes on after it slept; a thread ends, or goes to sleep.
  void runs() override {
    running_[rl::thread_index()].fetch_add(1, rl::mo_acq_rel, $);
    ModelAtomics::fence(std::memory_order_seq_cst);
  }
  void rests() override {
    ModelAtomics::fence(std::memory_order_seq_cst);
    running_[rl::thread_index()].fetch_sub(1, rl::mo_acq_rel, $);
  }
  void look() override {
    const unsigned me = rl::thread_index();
    const unsigned number = asked_[me].fetch_add(0, rl::mo_acq_rel, $);
    if (number == passed_[me].load(rl::mo_relaxed, $)) return;
    ModelAtomics::fence(std::memory_order_seq_cst);
    passed_[me].store(number, rl::mo_release, $);
  }

 private:
  struct Count : rl::atomic<unsigned> {
    Count() : rl::atomic<unsigned>(0) {}
  };
  Count asked_[kThreads], passed_[kThreads], running_[kThreads];
};

}  // namespace starling::model

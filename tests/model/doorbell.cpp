// SPDX-License-Identifier: BSD-3-Clause
// Model: one sleeper and two producers. A wake-up that gets lost leaves all threads blocked, which Relacy
// reports. With fences of the producers' own, and with the sleeper's for all (kFencesForAll).

#include "frameworks/shm/doorbell.hpp"

#include "tests/model/futex.hpp"
#include "tests/model/membarrier.hpp"

namespace starling::model {

/// kForAll: the sleeper fences for all, and the producers have no fence of their own.
template <bool kForAll>
struct Bell : rl::test_suite<Bell<kForAll>, 3> {
  static constexpr unsigned kEach = 2;
  ModelAtomic<std::uint32_t> bell_word;
  ModelAtomic<std::uint32_t> attention;
  ModelAtomic<std::uint32_t> messages[2];  // how many each producer has published
  Futex futex;
  Membarrier<3> kernel;

  void before() {
    if (!kForAll) return;
    attention.store(shm::kFencesForAll, std::memory_order_relaxed);
    kernel.begin();
  }
  void thread(unsigned index) {
    if (kForAll) kernel.runs();
    run(index);
    if (kForAll) kernel.rests();
  }
  void run(unsigned index) {
    shm::Doorbell<ModelAtomics> bell(bell_word, attention, kForAll);
    if (index < 2) {
      for (unsigned i = 1; i <= kEach; ++i) {
        messages[index].store(i, std::memory_order_relaxed);
        if ((bell.attention() & shm::kAsleep) != 0 && bell.ring()) futex.wake();
      }
      return;
    }
    while (!all_there()) {
      const std::uint32_t value = bell.prepare();
      if (kForAll) kernel.fence_all();
      if (all_there()) {
        bell.awake();
        return;
      }
      futex.wait(bell_word, value);
      bell.awake();
    }
  }
  bool all_there() const {
    return messages[0].load(std::memory_order_relaxed) == kEach &&
           messages[1].load(std::memory_order_relaxed) == kEach;
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 200000);
  return survives_random<Bell<false>>(iterations) && survives_random<Bell<true>>(iterations) ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// Model: one sleeper and two producers. A wake-up that gets lost leaves all threads blocked, which Relacy
// reports.

#include "frameworks/shm/doorbell.hpp"

#include "tests/model/futex.hpp"

namespace starling::model {

struct Bell : rl::test_suite<Bell, 3> {
  static constexpr unsigned kEach = 2;
  ModelAtomic<std::uint32_t> bell_word;
  ModelAtomic<std::uint32_t> attention;
  ModelAtomic<std::uint32_t> messages[2];  // how many each producer has published
  Futex futex;

  void thread(unsigned index) {
    shm::Doorbell<ModelAtomics> bell(bell_word, attention);
    if (index < 2) {
      for (unsigned i = 1; i <= kEach; ++i) {
        messages[index].store(i, std::memory_order_relaxed);
        if ((bell.attention() & shm::kAsleep) != 0 && bell.ring()) futex.wake();
      }
      return;
    }
    while (!all_there()) {
      const std::uint32_t value = bell.prepare();
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
  return survives_random<Bell>(iterations_of(argc, argv, 200000)) ? 0 : 1;
}

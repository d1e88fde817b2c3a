// SPDX-License-Identifier: BSD-3-Clause
// Model: a consumer changes from polling lanes to polling activity bits while two producers publish. A lost
// bit leaves the consumer polling for ever, which Relacy reports.

#include "plugins/btl/shm/activity.hpp"
#include "tests/model/model.hpp"

namespace starling::model {

struct Activity : rl::test_suite<Activity, 3> {
  static constexpr unsigned kEach = 2;
  ModelAtomic<std::uint32_t> bell_word;
  ModelAtomic<std::uint32_t> attention;
  ModelAtomic<std::uint64_t> word;
  ModelAtomic<std::uint32_t> published[2];  // stands for a lane: how many messages are in it
  rl::var<unsigned> payload[2][kEach];

  void thread(unsigned index) {
    if (index == 2) return consume();
    shm::Doorbell<ModelAtomics> bell(bell_word, attention);
    for (unsigned i = 0; i < kEach; ++i) {
      payload[index][i]($) = i + 1;
      published[index].store(i + 1, std::memory_order_release);
      if ((bell.attention() & shm::kWantsActivity) != 0) btl::mark_activity(word, std::uint64_t{1} << index);
    }
  }
  void consume() {
    unsigned taken[2] = {0, 0};
    const auto drain = [&](unsigned index) {
      const unsigned there = published[index].load(std::memory_order_acquire);
      for (; taken[index] < there; ++taken[index]) check(payload[index][taken[index]]($) == taken[index] + 1);
    };
    btl::request_activity<ModelAtomics>(attention);
    drain(0);
    drain(1);
    while (taken[0] + taken[1] < 2 * kEach) {
      const std::uint64_t bits = btl::take_activity<ModelAtomics>(word);
      if (bits == 0) wait_a_little();
      for (unsigned index = 0; index < 2; ++index) {
        if ((bits >> index & 1) != 0) drain(index);
      }
    }
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<Activity>(iterations_of(argc, argv, 200000)) ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// Model: two origins ask a target for active messages, which looks now and then, and take back what it has
// not heard. The question, the answer beside the word and the target's memory are payload: an access that
// nothing orders is a race.

#include "mpi/onesided/active_message_words.hpp"

#include "tests/model/model.hpp"

namespace starling::model {

constexpr unsigned kOrigins = 2, kTarget = kOrigins, kActiveMessages = 3, kLooks = 8;

struct ActiveMessageModel : rl::test_suite<ActiveMessageModel, kOrigins + 1> {
  using Word = mpi::ActiveMessageWord<ModelAtomics>;
  ModelAtomic<std::uint32_t> word;
  rl::var<unsigned> data;    // the question, then the answer
  rl::var<unsigned> memory;  // the target's: only who has claimed touches it
  ModelAtomic<unsigned> got;

  void before() {
    word.store(0, std::memory_order_relaxed);
    got.store(0, std::memory_order_relaxed);
    data($) = 0u;
    memory($) = 0u;
  }

  bool heard(const Word& active_message) {
    for (unsigned looks = 0; !active_message.done(); ++looks) {
      if (looks == 1 && active_message.take_back()) return false;
      wait_a_little();
    }
    return true;
  }
  void ask(unsigned me) {
    const Word active_message(word);
    for (unsigned number = 0; number < kActiveMessages; ++number) {
      wait_a_little();
      if (!active_message.take()) continue;
      data($) = 10 + me;
      active_message.ask();
      if (!heard(active_message)) continue;
      check(data($) == 20 + me);
      got.fetch_add(1, std::memory_order_relaxed);
      active_message.release();
    }
  }
  void serve() {
    const Word active_message(word);
    unsigned done = 0;
    for (unsigned looks = 0; looks < kLooks; ++looks) {
      wait_a_little();
      if (!active_message.claim()) continue;
      const unsigned question = data($);
      check(question == 10 || question == 11);
      data($) = question + 10;
      memory($) = ++done;
      active_message.answer();
    }
  }
  void thread(unsigned index) { index == kTarget ? serve() : ask(index); }

  /// Each active message that was done has been found done by who asked.
  void after() { check(memory($) == got.load(std::memory_order_relaxed)); }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<ActiveMessageModel>(iterations_of(argc, argv, 100000)) ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// Model: two origins ask a target for favours, which looks now and then, and take back what it has not heard.
// The question, the answer beside the word and the target's memory are payload: an access that nothing orders
// is a race.

#include "mpi/onesided/favour_words.hpp"

#include "tests/model/model.hpp"

namespace starling::model {

constexpr unsigned kOrigins = 2, kTarget = kOrigins, kFavours = 3, kLooks = 8;

struct FavourModel : rl::test_suite<FavourModel, kOrigins + 1> {
  using Word = mpi::FavourWord<ModelAtomics>;
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

  bool heard(const Word& favour) {
    for (unsigned looks = 0; !favour.done(); ++looks) {
      if (looks == 1 && favour.take_back()) return false;
      wait_a_little();
    }
    return true;
  }
  void ask(unsigned me) {
    const Word favour(word);
    for (unsigned number = 0; number < kFavours; ++number) {
      wait_a_little();
      if (!favour.take()) continue;
      data($) = 10 + me;
      favour.ask();
      if (!heard(favour)) continue;
      check(data($) == 20 + me);
      got.fetch_add(1, std::memory_order_relaxed);
      favour.release();
    }
  }
  void serve() {
    const Word favour(word);
    unsigned done = 0;
    for (unsigned looks = 0; looks < kLooks; ++looks) {
      wait_a_little();
      if (!favour.claim()) continue;
      const unsigned question = data($);
      check(question == 10 || question == 11);
      data($) = question + 10;
      memory($) = ++done;
      favour.answer();
    }
  }
  void thread(unsigned index) { index == kTarget ? serve() : ask(index); }

  /// Each favour that was done has been found done by who asked.
  void after() { check(memory($) == got.load(std::memory_order_relaxed)); }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<FavourModel>(iterations_of(argc, argv, 100000)) ? 0 : 1;
}

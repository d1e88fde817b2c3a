// SPDX-License-Identifier: BSD-3-Clause
// Model: an owner lets another process write to its buffer, generation after generation, and takes some of
// the permits back. Whenever the buffer is its own again it writes there itself: a race if the other one
// still does. The other one knows one old generation too many.

#include "frameworks/btl/permit.hpp"

#include "tests/model/model.hpp"

namespace starling::model {

struct PermitModel : rl::test_suite<PermitModel, 2> {
  static constexpr unsigned kRounds = 4;
  using Permit = btl::Permit<ModelAtomics>;
  ModelAtomic<std::uint64_t> word;
  ModelAtomic<unsigned> told;  // the generation that the other one knows: relaxed, so it orders nothing
  rl::var<unsigned> buffer;

  void before() {
    word.store(0, std::memory_order_relaxed);
    told.store(0, std::memory_order_relaxed);
    buffer($) = 0u;
  }
  void own() {
    for (unsigned generation = 1; generation <= kRounds; ++generation) {
      buffer($) = 10 * generation;
      Permit permit(word, generation);
      permit.open();
      told.store(generation, std::memory_order_relaxed);
      if (rl::rand(2) != 0) wait_a_little();
      const bool closed = permit.close();
      while (!closed && !permit.written()) wait_a_little();
      check(buffer($) == (closed ? 10 * generation : 10 * generation + 1));
    }
  }
  void write() {
    for (unsigned tries = 0; tries < 2 * kRounds; ++tries) {
      const unsigned generation = told.load(std::memory_order_relaxed);
      for (const unsigned one : {generation - 1, generation}) {
        if (generation == 0 || one == 0) continue;
        Permit permit(word, one);
        if (!permit.take()) continue;
        const unsigned seen = buffer($);
        check(seen == 10 * one);
        buffer($) = seen + 1;
        permit.finish();
      }
      wait_a_little();
    }
  }
  void thread(unsigned index) { index == 0 ? own() : write(); }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<PermitModel>(iterations_of(argc, argv, 100000)) ? 0 : 1;
}

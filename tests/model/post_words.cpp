// SPDX-License-Identifier: BSD-3-Clause
// Model: a target that posts for two origins, round after round. What the target writes before its post, and
// what the origins write before they complete, is payload: an access that nothing orders is a race.

#include "mpi/onesided/post_words.hpp"

#include "tests/model/model.hpp"

namespace starling::model {

constexpr std::uint32_t kOrigins = 2, kTarget = kOrigins;
constexpr unsigned kRounds = 3;

struct WordsMemory {
  ModelAtomic<std::uint64_t> posted[kOrigins], completed;
};

class Words {
 public:
  explicit Words(WordsMemory& memory) : memory_(&memory) {}
  ModelAtomic<std::uint64_t>& posted(std::uint32_t origin, std::uint32_t) const {
    return memory_->posted[origin];
  }
  ModelAtomic<std::uint64_t>& completed(std::uint32_t) const { return memory_->completed; }

 private:
  WordsMemory* memory_;
};

/// kTogether: one epoch for both origins; else one after the other.
template <bool kTogether>
struct PostModel : rl::test_suite<PostModel<kTogether>, kOrigins + 1> {
  WordsMemory memory;
  rl::var<unsigned> from_target, from_origin[kOrigins];

  void before() {
    from_target($) = 0u;
    for (auto& value : from_origin) value($) = 0u;
  }

  void expose(const mpi::PostWords<Words>& words, std::uint32_t first, std::uint32_t end, unsigned round,
              std::uint64_t& counted) {
    from_target($) = round * kOrigins + first;
    for (std::uint32_t origin = first; origin < end; ++origin) words.post(origin, kTarget);
    counted += end - first;
    while (words.completed(kTarget) != counted) wait_a_little();
    for (std::uint32_t origin = first; origin < end; ++origin) check(from_origin[origin]($) == round);
  }

  void thread(unsigned me) {
    const mpi::PostWords<Words> words{Words(memory)};
    std::uint64_t counted = 0;
    for (unsigned round = 1; round <= kRounds; ++round) {
      if (me == kTarget && kTogether) expose(words, 0, kOrigins, round, counted);
      if (me == kTarget && !kTogether) {
        for (std::uint32_t origin = 0; origin < kOrigins; ++origin)
          expose(words, origin, origin + 1, round, counted);
      }
      if (me == kTarget) continue;
      while (!words.posted(me, kTarget)) wait_a_little();
      check(from_target($) == round * kOrigins + (kTogether ? 0 : me));
      from_origin[me]($) = round;
      words.complete(me, kTarget);
    }
  }

  void after() {
    for (auto& flag : memory.posted) check(flag.load(std::memory_order_relaxed) == 0);
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 100000);
  const bool fine =
      survives_random<PostModel<true>>(iterations) && survives_random<PostModel<false>>(iterations);
  return fine ? 0 : 1;
}

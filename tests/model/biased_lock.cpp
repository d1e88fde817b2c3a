// SPDX-License-Identifier: BSD-3-Clause
// Model: three threads at a lock whose bias is given and taken all the time. Two holders at once are a race
// on the payload; a wake-up that gets lost leaves threads blocked, which Relacy reports.

#include "mpi/process/biased_lock.hpp"

#include "tests/model/futex.hpp"
#include "tests/model/membarrier.hpp"

namespace starling::model {

constexpr unsigned kThreads = 3;

/// Of the iteration that runs: the structure's Kernel has static functions only.
struct System {
  Membarrier<kThreads> membarrier;
  Futex futexes[2];  ///< of the lock's words that threads sleep on, in the order in which they come
  const void* words[2] = {};
  Futex& futex_of(const void* word) {
    const unsigned index = words[0] == nullptr || words[0] == word ? 0 : 1;
    check(words[index] == nullptr || words[index] == word);
    words[index] = word;
    return futexes[index];
  }
};
inline System* current = nullptr;

struct ModelKernel {
  using Word = ModelAtomic<std::uint32_t>;
  static void pause(std::uint32_t) { wait_a_little(); }
  static void yield(std::uint32_t) { wait_a_little(); }
  static void sleep(Word& word, std::uint32_t value) { current->futex_of(&word).wait(word, value); }
  static void wake_one(Word& word) { current->futex_of(&word).wake_one(); }
  static void fence_all() { current->membarrier.fence_all(); }
};

template <std::uint32_t kPausesOf, std::uint32_t kPatienceOf, std::uint32_t kStreak>
struct ModelLimits {
  static constexpr std::uint32_t kPauses = kPausesOf, kYields = 0, kPatience = kPatienceOf,
                                 kLeastStreak = kStreak, kMostStreak = kStreak, kSlots = 2;
};

/// kWay: what the last thread does: enters, tries, or enters first and gives up after some time.
enum class Way { enters, tries, first };

template <class Limits, Way kWay, bool kBiased>
struct BiasedLockModel : rl::test_suite<BiasedLockModel<Limits, kWay, kBiased>, kThreads> {
  using Lock = mpi::BiasedLock<ModelAtomics, ModelKernel, Limits>;
  static constexpr unsigned kRounds = 3;
  System system;
  Lock lock;
  rl::var<unsigned> payload;

  void before() {
    current = &system;
    system.membarrier.begin();
    if (kBiased) lock.allow_bias();
    payload($) = 0u;
  }
  bool enter(unsigned me) {
    const std::uint64_t id = me + 1;
    if (kWay == Way::tries && me == kThreads - 1) return lock.try_enter(id);
    if (kWay == Way::first && me == kThreads - 1) {
      unsigned rounds = 0;
      return lock.enter_first(id, [&] {
        wait_a_little();
        return ++rounds < 3;
      });
    }
    if (!lock.enter(id)) lock.enter_slowly(id);
    return true;
  }
  void thread(unsigned me) {
    system.membarrier.runs();
    for (unsigned round = 0; round < kRounds; ++round) {
      if (!enter(me)) continue;
      step();  // another thread's fence may fall between entering and what the lock guards
      payload($) = payload($) + 1;
      lock.leave();
    }
    system.membarrier.rests();
  }
  void after() {
    check(kWay != Way::enters || payload($) == kThreads * kRounds);
    check(!lock.contended());
    check(lock.try_enter(kThreads + 1));  // nothing stayed behind
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 60000);
  const bool fine = survives_random<BiasedLockModel<ModelLimits<0, 9, 1>, Way::enters, true>>(iterations) &&
                    survives_random<BiasedLockModel<ModelLimits<0, 0, 9>, Way::enters, false>>(iterations) &&
                    survives_random<BiasedLockModel<ModelLimits<1, 1, 9>, Way::enters, false>>(iterations) &&
                    survives_random<BiasedLockModel<ModelLimits<0, 9, 1>, Way::tries, true>>(iterations) &&
                    survives_random<BiasedLockModel<ModelLimits<0, 0, 1>, Way::first, true>>(iterations);
  return fine ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// Model: three members at a queue lock, who sleep while they wait. Both sides at once are a race on the
// payload; a wake-up that gets lost leaves threads blocked, which Relacy reports. As on a crowded node, who
// takes the lock alone wakes nobody before it leaves.

#include "mpi/onesided/queue_lock.hpp"

#include "frameworks/shm/doorbell.hpp"
#include "tests/model/futex.hpp"

namespace starling::model {

constexpr std::uint32_t kMembers = 3;

struct LockMemory {
  ModelAtomic<std::uint64_t> word, numbers, slots[kMembers];
};

class LockWords {
 public:
  explicit LockWords(LockMemory& memory) : memory_(&memory) {}
  ModelAtomic<std::uint64_t>& word() const { return memory_->word; }
  ModelAtomic<std::uint64_t>& numbers() const { return memory_->numbers; }
  ModelAtomic<std::uint64_t>& slot(std::uint32_t member) const { return memory_->slots[member]; }
  std::uint32_t size() const { return kMembers; }

 private:
  LockMemory* memory_;
};
using ModelLock = mpi::QueueLock<ModelAtomics, LockWords>;
using mpi::Side;

struct Sleepers {
  LockMemory memory;
  ModelAtomic<std::uint32_t> bell[kMembers], attention[kMembers];
  Futex futex[kMembers];

  shm::Doorbell<ModelAtomics> doorbell(std::uint32_t member) { return {bell[member], attention[member]}; }
  void wake(std::uint32_t member) {
    if (member == ModelLock::kNobody) return;
    if ((doorbell(member).attention() & shm::kAsleep) != 0 && doorbell(member).ring()) futex[member].wake();
  }
  /// From the queue on.
  void wait(ModelLock& lock, Side side, std::uint32_t me) {
    while (!lock.try_queued(side)) {
      const std::uint32_t value = doorbell(me).prepare();
      const bool taken = lock.try_queued(side);
      if (!taken) futex[me].wait(bell[me], value);
      doorbell(me).awake();
      if (taken) break;
    }
    if (!lock.excludes(side)) wake(lock.next());
  }
  void take(ModelLock& lock, Side side, std::uint32_t me) {
    if (lock.enter(side, false)) return;
    lock.queue(side, false);
    wait(lock, side, me);
  }
  void check_free() {
    check(memory.word.load(std::memory_order_relaxed) == 0);
    for (auto& slot : memory.slots) check(slot.load(std::memory_order_relaxed) == 0);
  }
};

/// kOne: as readers and writers; else as two crowds, of which the shared one has one member here, who writes.
/// kGivesUp: the last member waits no longer if it does not get the lock at once.
template <bool kOne, bool kGivesUp>
struct QueueLockModel : rl::test_suite<QueueLockModel<kOne, kGivesUp>, kMembers> {
  static constexpr unsigned kRounds = 2;
  Sleepers all;
  rl::var<unsigned> payload;

  void before() { payload($) = 0u; }

  bool take(ModelLock& lock, Side side, std::uint32_t me) {
    if (!kGivesUp || me != kMembers - 1) {
      all.take(lock, side, me);
      return true;
    }
    if (lock.enter(side, false)) return true;
    lock.queue(side, false);
    const bool taken = lock.try_queued(side);
    if (!taken) lock.give_up();
    if (!taken || !lock.excludes(side)) all.wake(lock.next());
    return taken;
  }

  void thread(unsigned me) {
    ModelLock lock(LockWords(all.memory), me, kOne);
    const Side side = me == 0 ? Side::shared : Side::other;
    const bool writes = kOne ? side == Side::other : side == Side::shared;
    for (unsigned round = 0; round < kRounds; ++round) {
      if (!take(lock, side, me)) continue;
      if (writes) {
        payload($) = payload($) + 1;
      } else {
        check(payload($) <= kMembers * kRounds);
      }
      all.wake(lock.leave(side));
    }
  }
  void after() { all.check_free(); }
};

/// Two who may hold it at once wait for a third: when that leaves, both come in, before either leaves.
struct Meeting : rl::test_suite<Meeting, kMembers> {
  Sleepers all;
  ModelAtomic<std::uint32_t> arrived;
  Futex both;

  void before() {
    ModelLock lock(LockWords(all.memory), 0, false);
    check(lock.enter(Side::shared, false));
  }
  void thread(unsigned me) {
    ModelLock lock(LockWords(all.memory), me, false);
    if (me == 0) {
      all.wake(lock.leave(Side::shared));
      return;
    }
    all.take(lock, Side::other, me);
    if (arrived.fetch_add(1, std::memory_order_relaxed) == 1) both.wake();
    while (arrived.load(std::memory_order_relaxed) < 2) both.wait(arrived, 1);
    all.wake(lock.leave(Side::other));
  }
  void after() { all.check_free(); }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 100000);
  const bool fine = survives_random<QueueLockModel<true, false>>(iterations) &&
                    survives_random<QueueLockModel<false, false>>(iterations) &&
                    survives_random<QueueLockModel<true, true>>(iterations) &&
                    survives_random<Meeting>(iterations);
  return fine ? 0 : 1;
}

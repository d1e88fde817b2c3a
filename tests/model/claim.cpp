// SPDX-License-Identifier: BSD-3-Clause
// Model: an owner offers two copies in one slot, one after the other; it and two others claim chunks. Each
// chunk is copied by one of them, from the memory that its copy names, and the owner sees it. The last of the
// others may die behind each step; then the owner does its chunk again, and nobody writes to it any more.

#include "frameworks/shm/claims/claim.hpp"

#include "tests/model/model.hpp"

namespace starling::model {

template <bool kDeath>
struct CopiesOfOne : rl::test_suite<CopiesOfOne<kDeath>, 3> {
  static constexpr std::uint32_t kChunks = 2, kSlot = 5, kWorkers = 3, kRounds = 2;
  struct Words {
    static constexpr unsigned kDoneWords = 1;
    CopiesOfOne* model;
    ModelAtomic<std::uint64_t>& word() const { return model->claim_word; }
    ModelAtomic<std::uint64_t>& field(unsigned i) const { return model->fields[i]; }
    ModelAtomic<std::uint64_t>& done(std::uint32_t i) const { return model->done_words[i]; }
  };
  using Slot = shm::Claim<ModelAtomics, Words>;

  ModelAtomic<std::uint64_t> claim_word, fields[Slot::kFields], done_words[1], works[kWorkers];
  ModelAtomic<unsigned> lives;  // the last one
  rl::var<unsigned> source[kRounds], target[kRounds][kChunks];

  void before() {
    claim_word.store(0, std::memory_order_relaxed);
    done_words[0].store(0, std::memory_order_relaxed);
    for (auto& work : works) work.store(shm::kNoWork, std::memory_order_relaxed);
    lives.store(1, std::memory_order_relaxed);
    for (unsigned round = 0; round < kRounds; ++round) {
      source[round]($) = 0u;
      for (auto& chunk : target[round]) chunk($) = 0u;
    }
  }
  /// The task's message says which round it is; its addresses must be those of that round.
  static shm::CopyTask task_of(unsigned round) {
    return {round, 100 + round, 200 + round,  2000 + round,
            round, round + 1,   1000 + round, static_cast<shm::Helpers>(round)};
  }
  static bool same(const shm::CopyTask& a, const shm::CopyTask& b) {
    return a.message == b.message && a.from == b.from && a.to == b.to && a.bytes == b.bytes &&
           a.from_rank == b.from_rank && a.to_rank == b.to_rank && a.chunk_bytes == b.chunk_bytes &&
           a.helpers == b.helpers;
  }
  void copy(const shm::CopyTask& task, std::uint32_t chunk) {
    const auto round = static_cast<unsigned>(task.message);
    target[round][chunk]($) = source[round]($) + target[round][chunk]($);
  }
  /// Claims at most one chunk. False: it has died.
  bool help(unsigned me, bool may_die) {
    Slot slot(Words{this}, kSlot);
    const auto offer = slot.look();
    if (!offer) return true;
    if (!slot.take(*offer, works[me])) return true;
    check(same(offer->task, task_of(static_cast<unsigned>(offer->task.message))));
    if (may_die && rl::rand(2) != 0) return die();
    copy(offer->task, offer->chunk());
    if (may_die && rl::rand(2) != 0) return die();
    slot.finish(offer->chunk(), works[me]);
    return true;
  }
  bool die() {
    lives.store(0, std::memory_order_release);  // as the kernel tells it
    return false;
  }
  void own() {
    Slot slot(Words{this}, kSlot);
    const auto work = [&](std::uint32_t i) -> ModelAtomic<std::uint64_t>& { return works[i]; };
    const auto alive = [&](std::uint32_t i) { return i != 2 || lives.load(std::memory_order_acquire) != 0; };
    for (unsigned round = 0; round < kRounds; ++round) {
      source[round]($) = 7 + round;
      slot.open(task_of(round), kChunks);
      help(0, false);
      while (!slot.ended()) {
        if (!slot.all_taken()) {
          help(0, false);
        } else if (const auto orphan = kDeath ? slot.orphan(kWorkers, work, alive) : std::nullopt) {
          target[round][*orphan]($) = 0u;  // a race with whoever still copies
          copy(task_of(round), *orphan);
          slot.mark_done(*orphan);
        } else {
          wait_a_little();
        }
      }
      for (auto& chunk : target[round]) check(chunk($) == 7 + round);
    }
  }
  void thread(unsigned index) {
    if (index == 0) return own();
    for (unsigned tries = 0; tries < 3; ++tries) {
      if (!help(index, kDeath && index == 2)) return;
    }
  }
};

/// The owner gives up in the middle: what is claimed ends, the rest is never copied.
struct ClosedInTheMiddle : rl::test_suite<ClosedInTheMiddle, 2> {
  using Base = CopiesOfOne<false>;
  struct Words {
    static constexpr unsigned kDoneWords = 1;
    ClosedInTheMiddle* model;
    ModelAtomic<std::uint64_t>& word() const { return model->claim_word; }
    ModelAtomic<std::uint64_t>& field(unsigned i) const { return model->fields[i]; }
    ModelAtomic<std::uint64_t>& done(std::uint32_t i) const { return model->done_words[i]; }
  };
  using Slot = shm::Claim<ModelAtomics, Words>;
  ModelAtomic<std::uint64_t> claim_word, fields[Slot::kFields], done_words[1], work;
  rl::var<unsigned> target[2];

  void before() {
    claim_word.store(0, std::memory_order_relaxed);
    done_words[0].store(0, std::memory_order_relaxed);
    work.store(shm::kNoWork, std::memory_order_relaxed);
    target[0]($) = target[1]($) = 0u;
    Slot(Words{this}, 1).open({}, 2);
  }
  void thread(unsigned index) {
    Slot slot(Words{this}, 1);
    if (index == 0) {
      slot.close();
      while (!slot.ended()) wait_a_little();
      for (auto& chunk : target) chunk($) = 9u;  // the memory is the owner's again
      check(!slot.look());
      return;
    }
    for (unsigned tries = 0; tries < 2; ++tries) {
      const auto offer = slot.look();
      if (!offer || !slot.take(*offer, work)) continue;
      target[offer->chunk()]($) = 1u;
      slot.finish(offer->chunk(), work);
    }
  }
  void after() {
    for (auto& chunk : target) check(chunk($) == 9u);
  }
};

/// Everybody lives: whatever the owner sees of the words, no chunk is an orphan.
struct NobodyDies : rl::test_suite<NobodyDies, 2> {
  struct Words {
    static constexpr unsigned kDoneWords = 1;
    NobodyDies* model;
    ModelAtomic<std::uint64_t>& word() const { return model->claim_word; }
    ModelAtomic<std::uint64_t>& field(unsigned i) const { return model->fields[i]; }
    ModelAtomic<std::uint64_t>& done(std::uint32_t i) const { return model->done_words[i]; }
  };
  using Slot = shm::Claim<ModelAtomics, Words>;
  ModelAtomic<std::uint64_t> claim_word, fields[Slot::kFields], done_words[1], works[2];

  void before() {
    claim_word.store(0, std::memory_order_relaxed);
    done_words[0].store(0, std::memory_order_relaxed);
    for (auto& work : works) work.store(shm::kNoWork, std::memory_order_relaxed);
    Slot(Words{this}, 1).open({}, 2);
  }
  void claim(Slot& slot, const Slot::Offer& offer, unsigned me) {
    if (slot.take(offer, works[me])) slot.finish(offer.chunk(), works[me]);
  }
  /// The other one does the first chunk and wants the second one, which the owner may have had by then.
  void thread(unsigned index) {
    Slot slot(Words{this}, 1);
    if (index == 1) {
      while (const auto offer = slot.look()) claim(slot, *offer, 1);
      return;
    }
    for (auto offer = slot.look(); offer; offer = slot.look()) {
      if (offer->chunk() == 1) {
        claim(slot, *offer, 0);
        break;
      }
      wait_a_little();
    }
    for (unsigned looks = 0; looks < 3; ++looks) {
      check(!slot.orphan(
          2, [&](std::uint32_t i) -> ModelAtomic<std::uint64_t>& { return works[i]; },
          [](std::uint32_t) { return true; }));
    }
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 60000);
  return survives_random<CopiesOfOne<false>>(iterations) && survives_random<CopiesOfOne<true>>(iterations) &&
                 survives_random<ClosedInTheMiddle>(iterations) && survives_random<NobodyDies>(iterations)
             ? 0
             : 1;
}

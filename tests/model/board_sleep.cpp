// SPDX-License-Identifier: BSD-3-Clause
// Model: three members at a board of one cell each, who sleep until the one they wait for has posted, or all
// have finished. A wake-up that gets lost leaves threads blocked, which Relacy reports. With fences of each
// member's own, and with those that a sleeper makes for all (kFencesForAll).

#include "frameworks/shm/doorbell.hpp"
#include "mpi/coll/node/wakes.hpp"
#include "tests/model/board_words.hpp"
#include "tests/model/futex.hpp"
#include "tests/model/membarrier.hpp"

namespace starling::model {

constexpr std::uint32_t kMembers = 3, kCells = 1;

struct Sleepers {
  ModelAtomic<std::uint32_t> bell[kMembers], attention[kMembers];
  Futex futex[kMembers];
  Membarrier<kMembers> kernel;
};

/// kForAll: the sleeper fences for all, and who wakes has no fence of its own.
template <bool kForAll>
struct ModelBells {
  using Atomics = ModelAtomics;
  Sleepers* sleepers;
  [[nodiscard]] shm::Doorbell<ModelAtomics> of(std::uint32_t member) const {
    return {sleepers->bell[member], sleepers->attention[member], kForAll};
  }
  [[nodiscard]] std::uint32_t place(std::uint32_t member) const { return member; }
  [[nodiscard]] bool awaits(std::uint32_t member, std::uint32_t what) const {
    return shm::awaits(of(member).attention(), what);
  }
  void wake(std::uint32_t member) const {
    if (of(member).ring()) sleepers->futex[member].wake();
  }
};

template <bool kForAll>
struct BoardSleep : rl::test_suite<BoardSleep<kForAll>, kMembers> {
  using Bells = ModelBells<kForAll>;
  using ModelWords = model::ModelWords<kMembers, kCells>;
  using Board = mpi::coll::node::BoardRounds<ModelWords>;

  BoardWords<kMembers, kCells> memory;
  Sleepers sleepers;

  /// One member, as mpi/coll/node/board.hpp is one.
  struct Member {
    Sleepers& sleepers;
    Bells bells;
    mpi::coll::node::Wakes<Bells> wakes;
    Board board;

    template <class Ready>
    void wait(Ready ready, std::uint32_t member) {
      shm::Doorbell<ModelAtomics> own = bells.of(board.me());
      while (!ready()) {
        const std::uint32_t value = own.prepare(wakes.awaited(member));
        if (kForAll) sleepers.kernel.fence_all();
        if (!ready()) sleepers.futex[board.me()].wait(sleepers.bell[board.me()], value);
        own.awake();
      }
    }
    void fill() {
      wait([&] { return board.writable(); }, board.me());
    }
    void read(std::uint32_t member) {
      wait([&] { return board.posted(member); }, member);
    }
    void finish(bool awaited) {
      if (awaited && board.nobody_behind()) wakes.finished();
    }

    /// One gives to all.
    void bcast(std::uint32_t root) {
      board.begin();
      if (board.me() == root) {
        fill();
        board.post();
        wakes.posted();
        board.finish();
      } else {
        read(root);
        board.finish();
        finish(wakes.finish_awaited(root));
      }
    }
    /// All give to one.
    void reduce(std::uint32_t root) {
      board.begin();
      if (board.me() == root) {
        for (std::uint32_t member = 0; member < kMembers; ++member) {
          if (member != root) read(member);
        }
      } else {
        fill();
        board.post();
        wakes.posted(root);
      }
      board.finish();
      finish(wakes.finish_awaited());
    }
    /// All give to all.
    void allreduce() {
      board.begin();
      fill();
      board.post();
      wakes.posted();
      for (std::uint32_t member = kMembers; member-- > 0;) {
        if (member != board.me()) read(member);
      }
      board.all_have_begun();
      board.finish();
      finish(wakes.finish_awaited());
    }
  };

  void before() {
    if (!kForAll) return;
    for (auto& attention : sleepers.attention) attention.store(shm::kFencesForAll, std::memory_order_relaxed);
    sleepers.kernel.begin();
  }
  void thread(unsigned index) {
    if (kForAll) sleepers.kernel.runs();
    run(index);
    if (kForAll) sleepers.kernel.rests();
  }
  void run(unsigned index) {
    const Bells bells{&sleepers};
    Member member{sleepers, bells, {bells, index, kMembers}, Board(ModelWords(memory), index, kMembers)};
    member.bcast(0);
    member.bcast(0);
    member.reduce(1);
    member.allreduce();
    member.reduce(0);
    member.bcast(2);
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 100000);
  return survives_random<BoardSleep<false>>(iterations) && survives_random<BoardSleep<true>>(iterations) ? 0
                                                                                                         : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
/// @file  Collectives at a board against loops over the ranks. The members are threads that share one
/// board and call a random series of collectives, so that slow readers of one meet fast writers of the next.

#include "mpi/coll/node/algorithms.hpp"

#include <gtest/gtest.h>

#include <random>

#include "board_run.hpp"

namespace starling::mpi::coll::testing {
namespace {

/// One call that all members make, chosen by the same random numbers.
struct Call {
  unsigned turn;
  unsigned kind;
  std::uint64_t count;
  int root;
  const PairLayout* layout;
  bool commutative, in_place;
};

std::vector<Call> series(unsigned seed, const BoardCase& what, unsigned calls) {
  std::mt19937 random(seed);
  std::vector<Call> result;
  const std::uint64_t counts[] = {1, 2, 5, 29, 40, 130, 300};
  for (unsigned turn = 0; turn < calls; ++turn) {
    const unsigned kind = static_cast<unsigned>(random() % 8);
    const bool reduces = kind == 2 || kind == 3;
    result.push_back({turn, kind, counts[random() % 7], static_cast<int>(random() % what.members),
                      reduces ? &kDense : kLayouts[random() % 4], random() % 2 == 0, random() % 3 == 0});
  }
  return result;
}

class Member {
 public:
  Member(node::Crew& crew, const Call& call)
      : crew_(crew), call_(call), me_(static_cast<int>(crew.me())), size_(static_cast<int>(crew.size())) {}

  void make() {
    switch (call_.kind) {
      case 0: return barrier();
      case 1: return bcast();
      case 2: return reduce(false);
      case 3: return reduce(true);
      case 4: return gather();
      case 5: return scatter();
      case 6: return allgather();
      default: return alltoall();
    }
  }

 private:
  [[nodiscard]] Memory memory(std::uint64_t blocks) const { return {*call_.layout, blocks * call_.count}; }
  /// Block `at` of the memory becomes, or must be, what `rank` contributes to its `part`-th receiver.
  void set(Memory& memory, int at, int rank, int part) const {
    for (std::uint64_t i = 0; i < call_.count; ++i)
      memory.set(index(at, i), element_of(rank, index(part, i), call_.turn));
  }
  void expect(Memory& memory, int at, int rank, int part) const {
    for (std::uint64_t i = 0; i < call_.count; ++i)
      ASSERT_EQ(memory.get(index(at, i)), element_of(rank, index(part, i), call_.turn)) << "block " << at;
  }
  [[nodiscard]] std::uint64_t index(int block, std::uint64_t i) const {
    return static_cast<std::uint64_t>(block) * call_.count + i;
  }

  void barrier() { EXPECT_TRUE(node::barrier(crew_)); }

  void bcast() {
    Memory buffer = memory(1);
    if (me_ == call_.root) set(buffer, 0, me_, 0);
    ASSERT_TRUE(node::bcast(crew_, {buffer.base(), call_.count, call_.layout->type(), call_.root}));
    expect(buffer, 0, call_.root, 0);
    EXPECT_TRUE(buffer.rest_is_blank());
  }

  void reduce(bool all) {
    const bool in_place = call_.in_place && (all || me_ == call_.root);
    Memory send = memory(1), receive = memory(1);
    set(in_place ? receive : send, 0, me_, 0);
    Reduce asked;
    asked.send = send.base();
    asked.receive = receive.base();
    asked.count = call_.count;
    asked.type = call_.layout->type();
    asked.operation = call_.commutative ? kSum : kCompose;
    asked.root = call_.root;
    asked.in_place = in_place;
    ASSERT_TRUE(all ? node::allreduce(crew_, asked) : node::reduce(crew_, asked));
    for (std::uint64_t i = 0; (all || me_ == call_.root) && i < call_.count; ++i)
      ASSERT_EQ(receive.get(i), folded(call_.commutative, size_, i, call_.turn)) << i;
    if (!in_place) expect(send, 0, me_, 0);
    EXPECT_TRUE(receive.rest_is_blank());
  }

  void gather() {
    Memory send = memory(1), receive = memory(static_cast<std::uint64_t>(size_));
    const bool in_place = call_.in_place && me_ == call_.root;
    const Type type = call_.layout->type();
    set(send, 0, me_, 0);
    if (in_place) set(receive, me_, me_, 0);
    const Gather asked{send.base(), call_.count, type, Blocks(receive.base(), call_.count, type),
                       call_.root,  in_place};
    ASSERT_TRUE(node::gather(crew_, asked));
    for (int rank = 0; me_ == call_.root && rank < size_; ++rank) expect(receive, rank, rank, 0);
    EXPECT_TRUE(receive.rest_is_blank());
  }

  void scatter() {
    Memory send = memory(static_cast<std::uint64_t>(size_)), receive = memory(1);
    const bool in_place = call_.in_place && me_ == call_.root;
    const Type type = call_.layout->type();
    for (int part = 0; me_ == call_.root && part < size_; ++part) set(send, part, me_, part);
    const Scatter asked{
        Blocks(send.base(), call_.count, type), receive.base(), call_.count, type, call_.root, in_place};
    ASSERT_TRUE(node::scatter(crew_, asked));
    if (!in_place) expect(receive, 0, call_.root, me_);
    EXPECT_TRUE(receive.rest_is_blank());
  }

  void allgather() {
    Memory send = memory(1), receive = memory(static_cast<std::uint64_t>(size_));
    const Type type = call_.layout->type();
    call_.in_place ? set(receive, me_, me_, 0) : set(send, 0, me_, 0);
    const Gather asked{send.base(), call_.count,   type, Blocks(receive.base(), call_.count, type),
                       0,           call_.in_place};
    ASSERT_TRUE(node::allgather(crew_, asked));
    for (int rank = 0; rank < size_; ++rank) expect(receive, rank, rank, 0);
    EXPECT_TRUE(receive.rest_is_blank());
  }

  void alltoall() {
    Memory send = memory(static_cast<std::uint64_t>(size_)),
           receive = memory(static_cast<std::uint64_t>(size_));
    const Type type = call_.layout->type();
    for (int part = 0; part < size_; ++part) set(send, part, me_, part);
    const Alltoall asked{Blocks(send.base(), call_.count, type), Blocks(receive.base(), call_.count, type),
                         false};
    ASSERT_TRUE(node::alltoall(crew_, asked));
    for (int rank = 0; rank < size_; ++rank) expect(receive, rank, rank, me_);
    EXPECT_TRUE(receive.rest_is_blank());
  }

  node::Crew& crew_;
  const Call& call_;
  int me_, size_;
};

TEST(NodeCollectives, random_series_give_what_loops_over_the_ranks_give) {
  for (const BoardCase& what : {BoardCase{2, {16, 256}}, BoardCase{3, {2, 256}}, BoardCase{5, {4, 384}},
                                BoardCase{8, {4, 1024}}, BoardCase{9, {4, 512}}, BoardCase{17, {8, 1024}},
                                BoardCase{2, {1, 4096}}, BoardCase{11, {4, 512}, in_domains({3, 5, 3})}}) {
    run_series<Member>(what, series(what.members, what, 60));
  }
}

TEST(NodeCollectives, a_dead_member_ends_the_call_of_the_others) {
  constexpr std::uint32_t kMembers = 4;
  constexpr node::BoardMemory::Shape kShape{4, 256};
  std::vector<std::byte> bytes(node::BoardMemory::bytes(kMembers, kShape) + 128);
  auto* const base =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(bytes.data()) + 127) / 128 * 128);
  std::atomic<bool> lost = false;
  std::atomic<std::uint32_t> ended = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me + 1 < kMembers; ++me) {
    threads.emplace_back([&, me] {
      Yielding patience(lost);
      node::Crew crew(node::BoardMemory(base, kMembers, kShape), me, node::FamilyPlan(kMembers), patience, 3);
      if (!node::barrier(crew)) ++ended;
    });
  }
  lost = true;  // the last one never comes
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, kMembers - 1);
}

}  // namespace
}  // namespace starling::mpi::coll::testing

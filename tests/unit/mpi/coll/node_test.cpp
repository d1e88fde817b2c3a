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
    const unsigned kind = static_cast<unsigned>(random() % 9);
    const bool reduces = kind == 2 || kind == 3;
    result.push_back({turn, kind, counts[random() % 7], static_cast<int>(random() % what.members),
                      reduces ? &kDense : kLayouts[random() % 4], random() % 2 == 0, random() % 3 == 0});
  }
  return result;
}

class Member {
 public:
  Member(node::Board& board, const Call& call)
      : board_(board),
        call_(call),
        me_(static_cast<int>(board.me())),
        size_(static_cast<int>(board.size())) {}

  void make() {
    switch (call_.kind) {
      case 0: return barrier();
      case 1: return bcast();
      case 2: return reduce(false);
      case 3: return reduce(true);
      case 4: return gather();
      case 5: return scatter();
      case 6: return allgather();
      case 7: return halves();
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

  void barrier() {
    const bool over = complete(node::barrier(board_));
    expect_all_begun(over);
  }
  void halves() {
    const auto head = static_cast<std::uint32_t>(call_.root);
    const bool arrived = complete(node::arrive(board_, head));
    if (me_ == call_.root) expect_all_begun(arrived);
    if (arrived) expect_all_begun(complete(node::leave(board_, head)));
  }
  void expect_all_begun(bool over) const {
    EXPECT_TRUE(!over || company.begun == nullptr || *company.begun == size_) << "others are not there yet";
  }

  void bcast() {
    Memory buffer = memory(1);
    if (me_ == call_.root) set(buffer, 0, me_, 0);
    if (!complete(node::bcast(board_, {buffer.base(), call_.count, call_.layout->type(), call_.root})))
      return;
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
    if (!complete(all ? node::allreduce(board_, asked) : node::reduce(board_, asked))) return;
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
    if (!complete(node::gather(board_, asked))) return;
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
    if (!complete(node::scatter(board_, asked))) return;
    if (!in_place) expect(receive, 0, call_.root, me_);
    EXPECT_TRUE(receive.rest_is_blank());
  }

  void allgather() {
    Memory send = memory(1), receive = memory(static_cast<std::uint64_t>(size_));
    const Type type = call_.layout->type();
    call_.in_place ? set(receive, me_, me_, 0) : set(send, 0, me_, 0);
    const Gather asked{send.base(), call_.count,   type, Blocks(receive.base(), call_.count, type),
                       0,           call_.in_place};
    if (!complete(node::allgather(board_, asked))) return;
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
    if (!complete(node::alltoall(board_, asked))) return;
    for (int rank = 0; rank < size_; ++rank) expect(receive, rank, rank, me_);
    EXPECT_TRUE(receive.rest_is_blank());
  }

  node::Board& board_;
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

TEST(NodeCollectives, where_a_member_leaves_every_call_ends_and_what_is_complete_is_right) {
  const auto calls = [](std::uint64_t most, bool in_place) {
    std::vector<Call> result;
    for (unsigned kind = 0; kind < 9; ++kind)
      result.push_back({kind, kind, kind < 5 ? most : 3, 1, &kDense, kind == 3 && in_place, in_place});
    return result;
  };
  run_departures<Member>({3, {2, 256}}, calls(40, false));
  run_departures<Member>({5, {2, 256}, in_domains({2, 3})}, calls(40, true));
  run_departures<Member>({9, {4, 384}, in_domains({3, 5, 1})}, calls(9, false));
}

}  // namespace
}  // namespace starling::mpi::coll::testing

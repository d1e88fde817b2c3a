// SPDX-License-Identifier: BSD-3-Clause
/// @file  Prefix reductions, scattered reductions and blocks of unequal sizes at a board, against loops over
/// the ranks. The members are threads; a random series lets slow readers of one call meet fast writers of the
/// next.

#include <gtest/gtest.h>

#include <random>

#include "board_run.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/variable_blocks.hpp"

namespace starling::mpi::coll::testing::unequal {
namespace {

enum class Kind { scan, exscan, reduce_scatter, allgatherv, gatherv, alltoallv };
constexpr unsigned kKinds = 6;

/// One call that all members make, chosen by the same random numbers.
struct Call {
  unsigned turn;
  Kind kind;
  std::uint64_t count;  ///< sizes are made of it
  int root;
  const PairLayout* layout;
  bool commutative, in_place, equal;
};

std::vector<Call> series(unsigned seed, const BoardCase& what, unsigned calls) {
  std::mt19937 random(seed);
  std::vector<Call> result;
  const std::uint64_t counts[] = {0, 1, 2, 5, 29, 130, 300};
  for (unsigned turn = 0; turn < calls; ++turn) {
    const auto kind = static_cast<Kind>(random() % kKinds);
    const bool reduces = kind <= Kind::reduce_scatter;
    result.push_back({turn, kind, counts[random() % 7], static_cast<int>(random() % what.members),
                      reduces ? &kDense : kLayouts[random() % 4], random() % 2 == 0, random() % 3 == 0,
                      random() % 2 == 0});
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
      case Kind::scan: return prefix(true);
      case Kind::exscan: return prefix(false);
      case Kind::reduce_scatter: return reduce_scatter();
      case Kind::allgatherv: return allgatherv();
      case Kind::gatherv: return gatherv();
      case Kind::alltoallv: return alltoallv();
    }
  }

 private:
  /// Elements of the block that goes from one rank to another; some are empty.
  [[nodiscard]] std::uint64_t size_of(int from, int to) const {
    return static_cast<std::uint64_t>(from * 7 + to * 3 + static_cast<int>(call_.turn)) % 4 * call_.count / 2;
  }
  /// Counts and displacements of blocks that lie one after the other with an element between them.
  struct Places {
    std::vector<std::int64_t> counts, displacements;
    std::uint64_t end = 0;
    void add(std::uint64_t count) {
      counts.push_back(static_cast<std::int64_t>(count));
      displacements.push_back(static_cast<std::int64_t>(end));
      end += count + 1;
    }
    [[nodiscard]] Blocks blocks(void* base, const Type& type) const {
      return {base, Ints{nullptr, counts.data()}, Ints{nullptr, displacements.data()}, type};
    }
    [[nodiscard]] std::uint64_t at(int block, std::uint64_t i) const {
      return static_cast<std::uint64_t>(displacements[static_cast<std::size_t>(block)]) + i;
    }
  };
  [[nodiscard]] Places places(bool sent) const {
    Places places;
    for (int other = 0; other < size_; ++other) places.add(sent ? size_of(me_, other) : size_of(other, me_));
    return places;
  }
  [[nodiscard]] Pair value_of(int from, int to, std::uint64_t i) const {
    return element_of(from, i + 1000 * static_cast<std::uint64_t>(to), call_.turn);
  }

  void prefix(bool inclusive) {
    if (call_.count == 0) return;
    Memory send(kDense, call_.count), receive(kDense, call_.count);
    Memory& own = call_.in_place ? receive : send;
    for (std::uint64_t i = 0; i < call_.count; ++i) own.set(i, element_of(me_, i, call_.turn));
    Reduce asked;
    asked.send = send.base();
    asked.receive = receive.base();
    asked.count = call_.count;
    asked.type = kDense.type();
    asked.operation = call_.commutative ? kSum : kCompose;
    asked.in_place = call_.in_place;
    if (!complete(inclusive ? node::scan(board_, asked) : node::exscan(board_, asked))) return;
    const int ranks = me_ + (inclusive ? 1 : 0);
    for (std::uint64_t i = 0; ranks != 0 && i < call_.count; ++i)
      ASSERT_EQ(receive.get(i), folded(call_.commutative, ranks, i, call_.turn)) << i;
    EXPECT_TRUE(receive.rest_is_blank());
  }

  void reduce_scatter() {
    std::vector<std::int64_t> counts;
    std::uint64_t total = 0, before = 0;
    for (int rank = 0; rank < size_; ++rank) {
      counts.push_back(static_cast<std::int64_t>(call_.equal ? call_.count : size_of(rank, 0)));
      if (rank == me_) before = total;
      total += static_cast<std::uint64_t>(counts.back());
    }
    const auto mine = static_cast<std::uint64_t>(counts[static_cast<std::size_t>(me_)]);
    Memory send(kDense, total), receive(kDense, call_.in_place ? total : mine);
    Memory& own = call_.in_place ? receive : send;
    for (std::uint64_t i = 0; i < total; ++i) own.set(i, element_of(me_, i, call_.turn));
    ReduceScatter asked;
    asked.send = send.base();
    asked.receive = receive.base();
    if (!call_.equal) asked.counts = Ints{nullptr, counts.data()};
    asked.count = call_.count;
    asked.type = kDense.type();
    asked.operation = call_.commutative ? kSum : kCompose;
    asked.in_place = call_.in_place;
    if (!complete(node::reduce_scatter(board_, asked))) return;
    for (std::uint64_t i = 0; i < mine; ++i)
      ASSERT_EQ(receive.get(i), folded(call_.commutative, size_, before + i, call_.turn)) << i;
    EXPECT_TRUE(receive.rest_is_blank());
  }

  void allgatherv() {
    const Type type = call_.layout->type();
    Places theirs;
    for (int rank = 0; rank < size_; ++rank) theirs.add(size_of(rank, 0));
    const std::uint64_t mine = size_of(me_, 0);
    Memory send(*call_.layout, mine), receive(*call_.layout, theirs.end);
    for (std::uint64_t i = 0; i < mine; ++i)
      call_.in_place ? receive.set(theirs.at(me_, i), value_of(me_, 0, i)) : send.set(i, value_of(me_, 0, i));
    const Gather asked{send.base(), mine, type, theirs.blocks(receive.base(), type), 0, call_.in_place};
    if (!complete(node::allgather(board_, asked))) return;
    for (int rank = 0; rank < size_; ++rank) {
      for (std::uint64_t i = 0; i < size_of(rank, 0); ++i)
        ASSERT_EQ(receive.get(theirs.at(rank, i)), value_of(rank, 0, i));
    }
  }

  /// What did not fit is named on both sides; everything else has arrived.
  void expect_block(Memory& memory, const Places& places, int from, std::uint64_t room,
                    const node::BlocksLeft& left) const {
    const std::uint64_t count = size_of(from, me_);
    const bool fits = from == me_ || count * 8 <= room;
    EXPECT_EQ(std::count(left.from.begin(), left.from.end(), from), fits ? 0 : 1);
    for (std::uint64_t i = 0; fits && i < count; ++i)
      ASSERT_EQ(memory.get(places.at(from, i)), value_of(from, me_, i));
  }
  void expect_sent(std::uint64_t room, const node::BlocksLeft& left, int to) const {
    const bool fits = to == me_ || size_of(me_, to) * 8 <= room;
    EXPECT_EQ(std::count(left.to.begin(), left.to.end(), to), fits ? 0 : 1);
  }
  [[nodiscard]] std::uint64_t room(bool shared) const {
    return (shared ? board_.capacity() / board_.size() & ~std::size_t{15} : board_.capacity()) - 8;
  }

  void gatherv() {
    const Type type = call_.layout->type();
    const bool collects = me_ == call_.root, in_place = call_.in_place && collects;
    const Places theirs = places(false);
    const std::uint64_t mine = size_of(me_, call_.root);
    Memory send(*call_.layout, mine), receive(*call_.layout, theirs.end);
    for (std::uint64_t i = 0; i < mine; ++i)
      in_place ? receive.set(theirs.at(me_, i), value_of(me_, me_, i))
               : send.set(i, value_of(me_, call_.root, i));
    const Gather asked{send.base(), mine, type, theirs.blocks(receive.base(), type), call_.root, in_place};
    const node::BlocksLeft left = node::gatherv(board_, asked);
    if (!complete(left.complete)) return;
    EXPECT_LT(left.unequal.member, 0);
    if (!collects) return expect_sent(room(false), left, call_.root);
    for (int rank = 0; rank < size_; ++rank) expect_block(receive, theirs, rank, room(false), left);
    EXPECT_TRUE(left.to.empty());
  }

  void alltoallv() {
    const Type type = call_.layout->type();
    const Places ours = places(true), theirs = places(false);
    Memory send(*call_.layout, ours.end), receive(*call_.layout, theirs.end);
    for (int rank = 0; rank < size_; ++rank) {
      for (std::uint64_t i = 0; i < size_of(me_, rank); ++i)
        send.set(ours.at(rank, i), value_of(me_, rank, i));
    }
    const Alltoall asked{ours.blocks(send.base(), type), theirs.blocks(receive.base(), type), false};
    const node::BlocksLeft left = node::alltoallv(board_, asked);
    if (!complete(left.complete)) return;
    EXPECT_LT(left.unequal.member, 0);
    for (int rank = 0; rank < size_; ++rank) {
      expect_sent(room(true), left, rank);
      expect_block(receive, theirs, rank, room(true), left);
    }
  }

  node::Board& board_;
  const Call& call_;
  int me_, size_;
};

TEST(NodeUnequal, random_series_give_what_loops_over_the_ranks_give) {
  for (const BoardCase& what :
       {BoardCase{2, {16, 256}}, BoardCase{3, {2, 256}}, BoardCase{5, {4, 384}}, BoardCase{8, {4, 1024}},
        BoardCase{9, {1, 512}}, BoardCase{17, {8, 1024}}, BoardCase{12, {4, 512}, in_domains({3, 1, 8})}}) {
    run_series<Member>(what, series(what.members, what, 80));
  }
}

TEST(NodeUnequal, a_block_longer_than_its_place_is_cut_off_and_told) {
  run({3, {4, 1024}}, [](node::Board& board) {
    const auto me = static_cast<int>(board.me());
    const Type type = kDense.type();
    Memory send(kDense, 3), receive(kDense, 9);
    for (std::uint64_t i = 0; i < 3; ++i) send.set(i, value(me, i));
    const std::int64_t counts[] = {3, 2, 3}, places[] = {0, 3, 6};
    const Blocks expected(receive.base(), Ints{nullptr, counts}, Ints{nullptr, places}, type);
    const node::BlocksLeft left = node::gatherv(board, {send.base(), 3, type, expected, 0, false});
    ASSERT_TRUE(left.complete);
    EXPECT_EQ(left.unequal.member, me == 0 ? 1 : -1);
    for (const std::uint64_t i : {0u, 1u, 2u, 3u, 4u, 6u, 7u, 8u}) {
      if (me == 0) {
        EXPECT_EQ(receive.get(i), value(static_cast<int>(i / 3), i % 3)) << i;
      }
    }
    EXPECT_TRUE(receive.rest_is_blank());
  });
}

TEST(NodeUnequal, where_a_member_leaves_every_call_ends_and_what_is_complete_is_right) {
  const auto calls = [](std::uint64_t count, bool commutative) {
    std::vector<Call> result;
    for (unsigned kind = 0; kind < kKinds; ++kind)
      result.push_back({kind, static_cast<Kind>(kind), count, 1, &kDense, commutative, !commutative, false});
    return result;
  };
  run_departures<Member>({3, {2, 256}}, calls(40, false));
  run_departures<Member>({5, {2, 256}, in_domains({2, 3})}, calls(29, true));
  run_departures<Member>({9, {4, 384}, in_domains({3, 5, 1})}, calls(7, false));
}

}  // namespace
}  // namespace starling::mpi::coll::testing::unequal

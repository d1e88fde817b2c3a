// SPDX-License-Identifier: BSD-3-Clause
/// @file  Members of a board that disagree about a call: those who read notice, nobody touches what is not
/// its own, and all stay in step, which a correct call afterwards shows.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <utility>

#include "board_run.hpp"
#include "mpi/coll/node/algorithms.hpp"

namespace starling::mpi::coll::testing::disagreeing {
namespace {

/// The root of a reduction has no memory for the result.
TEST(NodeDisagree, a_root_without_memory_keeps_the_others_in_step) {
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{1000}}) {  // one round, and several
    for (const std::uint32_t root : {0u, 2u}) {
      run({5, {4, 256}}, [&](node::Board& board) {
        const auto me = static_cast<int>(board.me());
        for (const bool poor : {true, false, true, false}) {
          Memory mine(kDense, count), result(kDense, count);
          for (std::uint64_t i = 0; i < count; ++i) mine.set(i, value(me, i));
          Reduce asked;
          asked.send = mine.base();
          asked.receive = result.base();
          asked.count = count;
          asked.type = kDense.type();
          asked.operation = kCompose;
          asked.root = static_cast<int>(root);
          const bool without = poor && board.me() == root;
          ASSERT_TRUE(without ? node::reduce_nothing(board, asked) : node::reduce(board, asked));
          const bool hears = poor && board.me() != root && count > 1;  // waits for the root's second round
          EXPECT_EQ(board.equal(), !hears) << me << ' ' << count;
          if (poor || board.me() != root) continue;
          for (std::uint64_t i = 0; i < count; ++i) {
            Pair want = value(0, i);
            for (int other = 1; other < 5; ++other) want = compose(want, value(other, i));
            ASSERT_EQ(result.get(i), want) << count << ' ' << i;
          }
        }
      });
    }
  }
}

enum class Kind { bcast, gather, scatter, allgather, alltoall, reduce, allreduce, reduce_scatter };
constexpr Kind kKinds[] = {Kind::bcast,    Kind::gather, Kind::scatter,   Kind::allgather,
                           Kind::alltoall, Kind::reduce, Kind::allreduce, Kind::reduce_scatter};

/// A call in which one member has another count than all others, or another operation.
struct Call {
  Kind kind;
  std::uint64_t count;  ///< of most
  int odd;              ///< the member that differs
  std::uint64_t odd_count;
  int root;
  bool commutative;
  bool odd_operation = false;
};

/// What the members are to notice: the root or the others where data go one way, everybody else.
bool notices(const Call& call, int me) {
  switch (call.kind) {
    case Kind::bcast:
    case Kind::scatter: return call.odd == call.root ? me != call.root : me == call.odd;
    case Kind::gather:
    case Kind::reduce: return me == call.root;
    default: return true;
  }
}

class Member {
 public:
  Member(node::Board& board, const Call& call)
      : board_(board),
        call_(call),
        me_(static_cast<int>(board.me())),
        size_(board.size()),
        count_(me_ == call.odd ? call.odd_count : call.count),
        one_(kDense, count_),
        all_(kDense, count_ * size_),
        result_(kDense, count_ * size_) {
    for (std::uint64_t i = 0; i < one_.count(); ++i) one_.set(i, value(me_, i));
    for (std::uint64_t i = 0; i < all_.count(); ++i) all_.set(i, value(me_, i));
  }

  void make() {
    ASSERT_TRUE(run());
    const bool correct = count_ == call_.count && call_.count == call_.odd_count && !call_.odd_operation;
    if (correct) {
      EXPECT_TRUE(board_.equal()) << "member " << me_;
    } else if (notices(call_, me_)) {
      EXPECT_FALSE(board_.equal()) << "member " << me_;
    }
    EXPECT_TRUE(one_.rest_is_blank() && all_.rest_is_blank() && result_.rest_is_blank()) << "member " << me_;
  }

 private:
  bool run() {
    const Type type = kDense.type();
    const Blocks blocks(result_.base(), count_, type), given(all_.base(), count_, type);
    switch (call_.kind) {
      case Kind::bcast: return node::bcast(board_, {one_.base(), count_, type, call_.root});
      case Kind::gather: return node::gather(board_, {one_.base(), count_, type, blocks, call_.root, false});
      case Kind::scatter: return node::scatter(board_, {given, one_.base(), count_, type, call_.root, false});
      case Kind::allgather: return node::allgather(board_, {one_.base(), count_, type, blocks, 0, false});
      case Kind::alltoall: return node::alltoall(board_, {given, blocks, false});
      case Kind::reduce: return node::reduce(board_, reduction());
      case Kind::allreduce: return node::allreduce(board_, reduction());
      default: return reduce_scatter();
    }
  }
  [[nodiscard]] Operator operation() const {
    Operator result = call_.commutative ? kSum : kCompose;
    result.code = me_ == call_.odd && call_.odd_operation ? 2 : 1;
    return result;
  }
  [[nodiscard]] Reduce reduction() {
    Reduce asked;
    asked.send = one_.base();
    asked.receive = result_.base();
    asked.count = count_;
    asked.type = kDense.type();
    asked.operation = operation();
    asked.root = call_.root;
    return asked;
  }
  bool reduce_scatter() {
    ReduceScatter asked;
    asked.send = all_.base();
    asked.receive = result_.base();
    asked.count = count_;
    asked.type = kDense.type();
    asked.operation = operation();
    return node::reduce_scatter(board_, asked);
  }

  node::Board& board_;
  const Call& call_;
  int me_;
  std::uint64_t size_, count_;
  Memory one_, all_, result_;
};

/// Every kind and pair of counts, each followed by a bcast and an allreduce whose data are looked at.
class Series {
 public:
  Series(node::Board& board, const BoardCase& what)
      : board_(board), members_(static_cast<int>(what.members)) {}
  void make(bool odd_operation) {
    const std::uint64_t counts[] = {1, 200, 700};
    int turn = 0;
    for (const Kind kind : kKinds) {
      for (const std::uint64_t count : counts) {
        for (const std::uint64_t other : counts) {
          // Either the operations differ, or the counts.
          if (odd_operation != (count == other) || (odd_operation && kind < Kind::reduce)) continue;
          const Call call{kind,
                          count,
                          turn % members_,
                          other,
                          turn * 3 % 5 % members_,
                          turn % 2 == 0,
                          odd_operation && kind >= Kind::reduce};
          Member(board_, call).make();
          follow_up(turn++);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

 private:
  void follow_up(int turn) {
    const Type type = kDense.type();
    const auto root = turn % members_, me = static_cast<int>(board_.me());
    Memory told(kDense, 3), operand(kDense, 3), result(kDense, 3);
    for (std::uint64_t i = 0; i < 3; ++i) {
      if (me == root) told.set(i, element_of(root, i, static_cast<unsigned>(turn)));
      operand.set(i, element_of(me, i, static_cast<unsigned>(turn)));
    }
    ASSERT_TRUE(node::bcast(board_, {told.base(), 3, type, root}) && board_.equal());
    Reduce asked;
    asked.send = operand.base();
    asked.receive = result.base();
    asked.count = 3;
    asked.type = type;
    asked.operation = kCompose;
    ASSERT_TRUE(node::allreduce(board_, asked) && board_.equal());
    for (std::uint64_t i = 0; i < 3; ++i) {
      ASSERT_EQ(told.get(i), element_of(root, i, static_cast<unsigned>(turn)));
      ASSERT_EQ(result.get(i), folded(false, members_, i, static_cast<unsigned>(turn)));
    }
  }
  node::Board& board_;
  int members_;
};

TEST(NodeDisagree, readers_notice_and_all_stay_in_step) {
  for (const BoardCase& what : {BoardCase{2, {4, 1024}}, BoardCase{3, {2, 512}}, BoardCase{5, {8, 2048}},
                                BoardCase{11, {4, 4096}, in_domains({3, 5, 3})}}) {
    SCOPED_TRACE(what.text());
    run(what, [&](node::Board& board) {
      Series(board, what).make(false);
      Series(board, what).make(true);
    });
  }
}

/// The sum of small numbers, and counts operands that are none, which nobody has given.
void careful_sum(const Operator& self, const void* in, const void* right, void* out, std::uint64_t count,
                 const Type& type) {
  for (const void* const operand : {in, right}) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (kDense.get(operand, i).a - 1 >= 100)
        ++*static_cast<std::atomic<int>*>(const_cast<void*>(self.object));
    }
  }
  kSum.apply(self, in, right, out, count, type);
}

TEST(NodeDisagree, nothing_is_combined_that_was_not_given) {
  std::atomic<int> strange = 0;
  run({11, {4, 4096}, in_domains({3, 5, 3})}, [&strange](node::Board& board) {
    for (const std::uint32_t odd : {0u, 3u, 7u, 9u}) {
      const std::uint64_t count = board.me() == odd ? 1 : 20;
      Memory one(kDense, count), all(kDense, 11 * count), result(kDense, 11 * count);
      for (std::uint64_t i = 0; i < count; ++i) one.set(i, {1, 1});
      for (std::uint64_t i = 0; i < 11 * count; ++i) all.set(i, {1, 1});
      const Operator operation{careful_sum, &strange, true, 1};
      ReduceScatter scattered;
      scattered.send = all.base();
      scattered.receive = result.base();
      scattered.count = count;
      scattered.type = kDense.type();
      scattered.operation = operation;
      ASSERT_TRUE(node::reduce_scatter(board, scattered));
      EXPECT_FALSE(board.equal());
      Reduce asked;
      asked.send = one.base();
      asked.count = count;
      asked.type = kDense.type();
      asked.operation = operation;
      for (const auto call : {node::reduce, node::allreduce, node::scan, node::exscan}) {
        Memory to(kDense, count);
        asked.receive = to.base();
        ASSERT_TRUE(call(board, asked));
      }
    }
  });
  EXPECT_EQ(strange, 0);
}

TEST(NodeDisagree, who_has_no_part_of_a_reduce_scatter_ends_it_with_the_others) {
  run({3, {4, 256}}, [](node::Board& board) {
    const std::int64_t counts[] = {0, 300, board.me() == 2 ? 301 : 300};  // takes several rounds
    Memory all(kDense, 601), result(kDense, 301);
    for (std::uint64_t i = 0; i < 601; ++i) all.set(i, value(static_cast<int>(board.me()), i));
    ReduceScatter asked;
    asked.send = all.base();
    asked.receive = result.base();
    asked.counts = Ints{nullptr, counts};
    asked.type = kDense.type();
    asked.operation = kSum;
    ASSERT_TRUE(node::reduce_scatter(board, asked));
    EXPECT_FALSE(board.equal());
    std::uint32_t told = board.me() == 1 ? 7 : 0;
    const Type word{nullptr, sizeof told, sizeof told, 0, sizeof told, true, nullptr};
    ASSERT_TRUE(node::bcast(board, {&told, 1, word, 1}));
    EXPECT_TRUE(board.equal());
    EXPECT_EQ(told, 7u);
  });
}

/// Notes disagreements one after the other, and gives what is known in the end.
node::Difference noted(std::initializer_list<std::pair<node::CallSignature, node::CallSignature>> pairs) {
  node::Difference result;
  run({1, {1, 256}}, [&](node::Board& board) {
    board.agree(node::CallSignature(8));
    std::uint32_t member = 3;
    for (const auto& [theirs, ours] : pairs) board.differ(member++, theirs, ours);
    EXPECT_EQ(board.equal(), pairs.size() == 0);
    result = board.difference();
  });
  return result;
}

TEST(NodeDisagree, the_first_who_differs_counts_and_hearsay_only_until_then) {
  using node::CallSignature;
  const CallSignature ours(8, 1), other_length(16, 1), third(24, 1), heard = CallSignature::disagreement();
  EXPECT_EQ(noted({}).member, -1);
  EXPECT_EQ(noted({{other_length, ours}}).member, 3);
  EXPECT_EQ(noted({{other_length, ours}, {third, ours}}).member, 3);
  EXPECT_EQ(noted({{other_length, ours}, {heard, ours}}).theirs, other_length);
  const node::Difference late = noted({{heard, ours}, {third, CallSignature(32, 1)}, {other_length, ours}});
  EXPECT_EQ(late.member, 4) << "who disagrees itself says more than who has heard of it";
  EXPECT_EQ(late.theirs, third);
  EXPECT_EQ(late.ours, CallSignature(32, 1));
}

TEST(NodeDisagree, a_detail_that_differs_anywhere_is_remembered_but_not_hearsay) {
  using node::CallSignature;
  const CallSignature ours(8, 1), other_length(16, 1), other_detail(8, 2),
      heard = CallSignature::disagreement();
  EXPECT_FALSE(noted({{other_length, ours}}).detail);
  EXPECT_TRUE(noted({{other_detail, ours}}).detail);
  EXPECT_TRUE(noted({{other_detail, ours}, {other_length, ours}}).detail);
  EXPECT_TRUE(noted({{other_length, ours}, {other_detail, ours}}).detail);
  EXPECT_FALSE(noted({{heard, ours}}).detail);
  EXPECT_FALSE(noted({{heard, ours}, {other_length, ours}}).detail);
}

TEST(NodeDisagree, who_has_seen_one_says_so_to_those_who_read_it_later) {
  run({3, {4, 256}}, [](node::Board& board) {
    const bool odd = board.me() == 0;
    board.agree(node::CallSignature(odd ? 16 : 8));
    board.begin();
    ASSERT_NE(board.cell(), nullptr);
    if (board.me() == 2) {  // reads members 0 and 1 only after 1 has read 0
      ASSERT_TRUE(board.meet(1));
    } else if (board.me() == 1) {
      ASSERT_NE(board.read(0), nullptr);
      EXPECT_EQ(board.difference().member, 0);
    }
    board.post();
    if (board.me() == 2) {
      ASSERT_NE(board.read(1), nullptr);
      EXPECT_TRUE(board.difference().theirs.broken());
      ASSERT_NE(board.read(0), nullptr);
      EXPECT_EQ(board.difference().member, 0);
      EXPECT_EQ(board.difference().theirs.bytes(), 16u);
    }
    board.finish();
  });
}

TEST(NodeDisagree, both_lengths_are_told_and_what_fits_is_taken) {
  run({3, {4, 1024}}, [](node::Board& board) {
    const bool root = board.me() == 1;
    const std::uint64_t count = root ? 5 : 2;
    Memory buffer(kDense, count);
    for (std::uint64_t i = 0; root && i < count; ++i) buffer.set(i, value(1, i));
    ASSERT_TRUE(node::bcast(board, {buffer.base(), count, kDense.type(), 1}));
    EXPECT_EQ(board.equal(), root);
    if (root) return;
    EXPECT_EQ(board.difference().member, 1);
    EXPECT_EQ(board.difference().theirs.bytes(), 40u);
    EXPECT_EQ(board.difference().ours.bytes(), 16u);
    for (std::uint64_t i = 0; i < 2; ++i) EXPECT_EQ(buffer.get(i), value(1, i));
    EXPECT_TRUE(buffer.rest_is_blank());
  });
}

TEST(NodeDisagree, an_allgatherv_in_which_one_expects_more_of_another) {
  run({4, {4, 256}}, [](node::Board& board) {
    const auto me = static_cast<int>(board.me());
    const Type type = kDense.type();
    // Member 2 is wrong about member 0: more rounds than the others count.
    const std::int64_t counts[] = {me == 2 ? 90 : 3, 3, 3, 3}, places[] = {0, 90, 93, 96};
    Memory send(kDense, 3), receive(kDense, 99);
    for (std::uint64_t i = 0; i < 3; ++i) send.set(i, value(me, i));
    const Blocks blocks(receive.base(), Ints{nullptr, counts}, Ints{nullptr, places}, type);
    ASSERT_TRUE(node::allgather(board, {send.base(), 3, type, blocks, 0, false}));
    EXPECT_FALSE(board.equal());
    ASSERT_TRUE(node::barrier(board));
    EXPECT_TRUE(board.equal() && receive.rest_is_blank());
  });
}

}  // namespace
}  // namespace starling::mpi::coll::testing::disagreeing

// SPDX-License-Identifier: BSD-3-Clause
// Who is woken on a board: on the way up those who read, on the way down all. Nobody else would wake them.

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "board_run.hpp"
#include "mpi/coll/node/algorithms.hpp"

namespace starling::mpi::coll::testing::telling {
namespace {

/// Waits by yielding, and notes who is told.
class Telling final : public node::Patience {
 public:
  bool wait(Ready ready, void* context, std::uint32_t) override {
    while (!ready(context)) std::this_thread::yield();
    return true;
  }
  void posted() noexcept override { ++all; }
  void posted(std::uint32_t reader) noexcept override { told.push_back(reader); }
  bool finish_awaited() noexcept override { return false; }
  bool finish_awaited(std::uint32_t) noexcept override { return false; }
  void finished() noexcept override {}

  std::vector<std::uint32_t> told;
  int all = 0;
};

/// What each member tells in the two halves of a barrier.
std::vector<Telling> told_in_barrier(const BoardCase& what, std::uint32_t head) {
  std::vector<std::byte> bytes(node::BoardMemory::bytes(what.members, what.shape) + 128);
  auto* const base =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(bytes.data()) + 127) / 128 * 128);
  std::vector<Telling> members(what.members);
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me < what.members; ++me) {
    threads.emplace_back([&, me] {
      node::Board board(node::BoardMemory(base, what.members, what.shape), me, what.families(), members[me],
                        3);
      EXPECT_TRUE(node::arrive(board, head));
      EXPECT_TRUE(node::leave(board, head));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return members;
}

TEST(NodeTold, those_who_arrive_tell_the_head) {
  for (std::uint32_t head = 0; head < 3; ++head) {
    const auto members = told_in_barrier({3, {4, 256}}, head);
    for (std::uint32_t me = 0; me < 3; ++me) {
      const std::vector<std::uint32_t> wanted(me == head ? 0 : 1, head);
      EXPECT_EQ(members[me].told, wanted) << me << ' ' << head;
      EXPECT_EQ(members[me].all, me == head ? 1 : 0) << me << ' ' << head;
    }
  }
}

TEST(NodeTold, in_families_they_tell_their_own_one_which_tells_the_head) {
  const BoardCase what{11, {4, 256}, in_domains({3, 5, 3})};
  const std::uint32_t family_of[] = {0, 0, 0, 3, 3, 3, 3, 3, 8, 8, 8};
  for (const std::uint32_t head : {0u, 3u, 4u, 10u}) {
    const auto members = told_in_barrier(what, head);
    for (std::uint32_t me = 0; me < 11; ++me) {
      const std::uint32_t reader = family_of[me] == me ? head : family_of[me];
      const std::vector<std::uint32_t> wanted(me == reader ? 0 : 1, reader);
      EXPECT_EQ(members[me].told, wanted) << me << ' ' << head;
      EXPECT_EQ(members[me].all, me == head ? 1 : 0) << me << ' ' << head;
    }
  }
}

}  // namespace
}  // namespace starling::mpi::coll::testing::telling

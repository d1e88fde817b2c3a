// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Threads that share a board, and what they contribute to a reduction. Layer: test.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "mpi/coll/node/board.hpp"
#include "pairs.hpp"

namespace starling::mpi::coll::testing {

/// Waits by yielding, and gives up once `lost` says so.
class Yielding final : public node::Patience {
 public:
  explicit Yielding(const std::atomic<bool>& lost) : lost_(lost) {}
  bool wait(Ready ready, void* context, std::uint32_t) override {
    while (!ready(context)) {
      if (lost_) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void posted() noexcept override {}
  void posted(std::uint32_t) noexcept override {}
  bool finish_awaited() noexcept override { return false; }
  bool finish_awaited(std::uint32_t) noexcept override { return false; }
  void finished() noexcept override {}

 private:
  const std::atomic<bool>& lost_;
};

/// Leaves, as if it had died, when it is to wait for another member for the `waits`-th time.
class Departing final : public node::Patience {
 public:
  Departing(const std::atomic<bool>& lost, std::uint32_t me, int waits)
      : others_(lost), me_(me), waits_(waits) {}
  [[nodiscard]] bool left() const { return waits_ < 0; }
  bool wait(Ready ready, void* context, std::uint32_t member) override {
    if (member != me_ && (waits_ < 0 || --waits_ < 0)) return false;
    return others_.wait(ready, context, member);
  }
  void posted() noexcept override {}
  void posted(std::uint32_t) noexcept override {}
  bool finish_awaited() noexcept override { return false; }
  bool finish_awaited(std::uint32_t) noexcept override { return false; }
  void finished() noexcept override {}

 private:
  Yielding others_;
  std::uint32_t me_;
  int waits_;
};

/// What a member of run_departures() knows of the others.
struct Company {
  bool may_leave = false;
  std::atomic<int>* begun = nullptr;  ///< how many have made the call
};
inline thread_local Company company;

/// Whether a call came to its end: then its results count. Only where members leave may it not.
inline bool complete(bool done) {
  EXPECT_TRUE(done || company.may_leave);
  return done;
}

struct BoardCase {
  std::uint32_t members;
  node::BoardMemory::Shape shape;
  std::vector<node::Domains> domains = {};  ///< of the members; none: families by rank
  [[nodiscard]] node::FamilyPlan families() const {
    return domains.empty() ? node::FamilyPlan(members) : node::FamilyPlan(domains);
  }
  [[nodiscard]] std::string text() const {
    return std::to_string(members) + " members, " + std::to_string(shape.cells) + " cells of " +
           std::to_string(shape.stride);
  }
};

/// Runs `member(board)` in a thread for each.
inline void run(const BoardCase& what, const std::function<void(node::Board&)>& member) {
  std::vector<std::byte> bytes(node::BoardMemory::bytes(what.members, what.shape) + 128);
  auto* const base =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(bytes.data()) + 127) / 128 * 128);
  const std::atomic<bool> lost = false;
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me < what.members; ++me) {
    threads.emplace_back([&, me] {
      Yielding patience(lost);
      node::Board board(node::BoardMemory(base, what.members, what.shape), me, what.families(), patience, 3);
      member(board);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Makes a call in which `leaver` leaves at its `waits`-th wait, or never comes at all (-1). Whose call comes
/// to its end all the same has the right results. False: the call was over before that.
template <class Member, class Call>
bool run_departure(const BoardCase& what, const Call& call, std::uint32_t leaver, int waits) {
  std::vector<std::byte> bytes(node::BoardMemory::bytes(what.members, what.shape) + 128);
  auto* const base =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(bytes.data()) + 127) / 128 * 128);
  std::atomic<bool> lost = false;
  std::atomic<int> begun = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me < what.members; ++me) {
    threads.emplace_back([&, me] {
      Departing patience(lost, me, me == leaver ? waits : std::numeric_limits<int>::max());
      node::Board board(node::BoardMemory(base, what.members, what.shape), me, what.families(), patience, 0);
      company = {true, &begun};
      if (!patience.left()) {
        ++begun;
        Member(board, call).make();
      }
      if (!patience.left()) return;
      for (int turn = 0; turn < 20; ++turn) std::this_thread::yield();  // the others come as far as they can
      lost = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return lost;
}

/// The same for several members and every moment.
template <class Member, class Calls>
void run_departures(const BoardCase& what, const Calls& calls) {
  for (const auto& call : calls) {
    for (std::uint32_t leaver = 0; leaver < what.members; ++leaver) {
      int waits = -1;
      while (run_departure<Member>(what, call, leaver, waits)) {
        if (::testing::Test::HasFailure())
          FAIL() << what.text() << ", without " << leaver << " from " << waits;
        waits += 1 + waits / 4;
      }
    }
  }
}

/// Domains of this number of members, one after the other.
inline std::vector<node::Domains> in_domains(std::initializer_list<std::size_t> counts) {
  std::vector<node::Domains> members;
  std::int32_t domain = 0;
  for (const std::size_t count : counts) members.insert(members.end(), count, {domain++, 0, 0});
  return members;
}

/// Runs a series of calls, each member as a `Member(board, call)`.
template <class Member, class Calls>
void run_series(const BoardCase& what, const Calls& calls) {
  SCOPED_TRACE(what.text());
  run(what, [&](node::Board& board) {
    for (const auto& call : calls) {
      Member(board, call).make();
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

/// The element that `rank` contributes to the `turn`-th call.
inline Pair element_of(int rank, std::uint64_t i, unsigned turn) { return value(rank, i + 7919 * turn); }

/// Of ranks [0, ranks).
inline Pair folded(bool commutative, int ranks, std::uint64_t i, unsigned turn) {
  Pair result = element_of(0, i, turn);
  for (int rank = 1; rank < ranks; ++rank) {
    const Pair next = element_of(rank, i, turn);
    result = commutative ? sum(result, next) : compose(result, next);
  }
  return result;
}

}  // namespace starling::mpi::coll::testing

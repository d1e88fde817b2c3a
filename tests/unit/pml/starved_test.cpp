// SPDX-License-Identifier: BSD-3-Clause
// Large messages while there is no memory: whichever allocation fails, messages end with an error or arrive
// whole, and the process goes on. The allocations of this program are counted and refused here.
#include <cstdlib>
#include <new>

#include "tests/unit/pml/job.hpp"

namespace {

struct Memory {
  std::size_t left = 0;   // allocations until one is refused
  bool for_good = false;  // all after it, too
  bool refused = false;
};
Memory memory;

void* take(std::size_t bytes) noexcept {
  if (starling::pml::test::starving && (memory.left == 0 || --memory.left == 0)) {
    const bool first = !memory.refused;
    memory.refused = true;
    if (first || memory.for_good) return nullptr;
  }
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const taken = take(bytes);
  if (taken == nullptr) throw std::bad_alloc();
  return taken;
}
void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes);
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete[](void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, const std::nothrow_t&) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete[](void* at, const std::nothrow_t&) noexcept { std::free(at); }

namespace starling::pml::test {
namespace {

struct Messages {
  std::vector<OpPtr> sends, receives;
};

/// Both send and receive long messages of two sizes, some before they are asked for, some more than the
/// receiver may be told of.
Messages start_all(Job& job) {
  Messages all;
  for (const std::uint32_t me : {0u, 1u}) {
    for (int tag = 0; tag < 40; ++tag) {
      const std::size_t bytes = tag % 4 == 0 ? 30'000 : 3000;
      all.sends.push_back(job.make(me, int(1 - me), tag, filled(bytes, me + unsigned(tag))));
      if (tag % 5 == 0) all.sends.back()->request.mode = Mode::synchronous;
      all.receives.push_back(job.make(me, int(1 - me), tag, std::vector<std::byte>(bytes)));
    }
  }
  starving = true;
  const auto start = [&](bool receive, std::uint32_t me, int from, int to) {
    for (int tag = from; tag < to; ++tag) {
      const std::size_t at = me * 40 + std::size_t(tag);
      if (receive) {
        job[me].irecv(all.receives[at]->request);
      } else {
        job[me].isend(all.sends[at]->request);
      }
    }
  };
  for (const std::uint32_t me : {0u, 1u}) start(true, me, 0, 20);
  for (const std::uint32_t me : {0u, 1u}) start(false, me, 0, 40);
  for (int round = 0; round < 30; ++round) job.progress();
  for (const std::uint32_t me : {0u, 1u}) start(true, me, 20, 40);
  for (int round = 0; round < 200; ++round) job.progress();
  starving = false;
  job.settle();
  return all;
}

/// Whether all of it arrived.
bool check(const Messages& all) {
  bool complete = true;
  for (std::size_t at = 0; at < all.sends.size(); ++at) {
    const Op& send = *all.sends[at];
    const Op& receive = *all.receives[(at + 40) % 80];
    for (const Op* op : {&send, &receive}) {
      const Fault fault = op->status().fault;
      const bool allowed = fault == Fault::none || fault == Fault::no_memory;
      EXPECT_TRUE(allowed || !op->complete()) << int(fault);
      complete = complete && op->complete() && fault == Fault::none;
    }
    const bool arrived = receive.complete() && receive.status().fault == Fault::none;
    EXPECT_TRUE(!arrived || receive.data == send.data) << at;
  }
  return complete;
}

TEST(Starved, whichever_allocation_fails_the_process_goes_on) {
  for (const Large large : {Large::ring, Large::get, Large::lend}) {
    for (const bool for_good : {false, true}) {
      std::size_t refused = 0;
      bool whole = false;
      for (std::size_t left = 1; !whole && left < 500; ++left) {
        PairOptions options;
        options.capacity = 2;
        options.get = GetMode::done;
        Config config;
        config.loans = 1;
        config.announced_max = 12;
        Job job(2, options, large, config);
        job.isend(0, 1, 99, filled(8, 1));
        job.isend(1, 0, 99, filled(8, 1));
        job.settle();
        memory = {left, for_good, false};
        const Messages all = start_all(job);
        const bool failed = memory.refused;
        memory = {};
        whole = check(all);
        if (failed) {
          ++refused;
          whole = false;
        } else {
          EXPECT_TRUE(whole) << "nothing was refused";
        }
      }
      EXPECT_GT(refused, 10u) << int(large);
      EXPECT_TRUE(whole) << "some allocation comes last";
    }
  }
}

constexpr std::uint32_t kMembers = 8;
constexpr ContextId kSecond = ContextId::make(0, 2);

/// Rank 0 meets all members, in the context that it has and in a second one, while memory is refused. What
/// opens is the second context; null: there was no memory.
Context* meet_all(Job& job, const std::vector<OpPtr>& receives, const std::vector<OpPtr>& sends) {
  const ProcListPtr ranks = std::make_shared<Strip>(kMembers);
  Context* second = nullptr;
  starving = true;
  for (const OpPtr& op : receives) job[0].irecv(op->request);
  for (const OpPtr& op : sends) job[0].isend(op->request);
  try {
    if (auto opened = job[0].open(kSecond, Rank{0}, ranks)) second = *opened;
  } catch (const std::bad_alloc&) {
  }
  starving = false;
  return second;
}

/// Everything again, with memory: whatever was refused before has left nothing half made.
void meet_all_again(Job& job, Context* second) {
  for (std::uint32_t rank = 1; rank < kMembers; ++rank) {
    auto receive = job.irecv(0, int(rank), 7, 8);
    auto send = job.isend(0, int(rank), 8, filled(8, rank));
    auto there = job.irecv(rank, 0, 8, 8);
    auto back = job.isend(rank, 0, 7, filled(8, rank + 10));
    auto posted = job.make(0, int(rank), 9, std::vector<std::byte>(8));
    posted->request.context = second;
    job[0].irecv(posted->request);
    job.settle();
    ASSERT_TRUE(receive->complete() && send->complete() && there->complete() && back->complete()) << rank;
    EXPECT_EQ(receive->status().fault, Fault::none);
    EXPECT_EQ(receive->data, filled(8, rank + 10)) << rank;
    EXPECT_EQ(there->data, filled(8, rank)) << rank;
    job[0].cancel(posted->request);
    EXPECT_TRUE(posted->complete());
  }
}

TEST(Starved, what_first_contact_and_open_were_refused_leaves_nothing_half_made) {
  std::size_t refused = 0;
  bool whole = false;
  for (std::size_t left = 1; !whole && left < 500; ++left) {
    Job job(kMembers);
    std::vector<OpPtr> receives, sends;
    for (std::uint32_t rank = 1; rank < kMembers; ++rank) {
      receives.push_back(job.make(0, int(rank), 1, std::vector<std::byte>(8)));
      sends.push_back(job.make(0, int(rank), 2, filled(8, rank)));
    }
    memory = {left, false, false};
    Context* second = meet_all(job, receives, sends);
    whole = !memory.refused;
    memory = {};
    if (!whole) ++refused;
    (void)job.notes(0);  // which looks at every peer
    for (const OpPtr& op : receives) {
      EXPECT_TRUE(!op->complete() || op->status().fault == Fault::no_memory);
    }
    if (second == nullptr) second = job.open(0, kSecond);
    ASSERT_NE(second, nullptr);
    meet_all_again(job, second);
    for (const OpPtr& op : receives) job[0].cancel(op->request);
  }
  EXPECT_GT(refused, 3 * std::size_t{kMembers});
  EXPECT_TRUE(whole) << "some allocation comes last";
}

}  // namespace
}  // namespace starling::pml::test

// SPDX-License-Identifier: BSD-3-Clause
// The engine's parts by themselves.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "frameworks/pml/closed_ids.hpp"
#include "frameworks/pml/message_pool.hpp"
#include "frameworks/pml/transfer.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

TEST(MessagePool, blocks_of_all_sizes_are_whole_and_apart) {
  MessagePool pool;
  std::mt19937 random(1);
  struct Block {
    std::byte* at;
    std::size_t bytes;
    std::byte mark;
  };
  std::vector<Block> blocks;
  for (int round = 0; round < 20'000; ++round) {
    if (blocks.size() < 300 && random() % 5 < 3) {
      const std::size_t bytes = round % 50 == 0 ? 1 + random() % 40'000 : 1 + random() % 3000;
      auto* const at = static_cast<std::byte*>(pool.take(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 16, 0u);
      const auto mark = std::byte(random());
      std::memset(at, int(mark), bytes);
      blocks.push_back({at, bytes, mark});
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      const Block block = blocks.back();
      blocks.pop_back();
      for (std::size_t i = 0; i < block.bytes; i += 13) ASSERT_EQ(block.at[i], block.mark);
      pool.give(block.at, block.bytes);
    }
  }
  for (const Block& block : blocks) pool.give(block.at, block.bytes);
}

TEST(MessagePool, memory_of_one_size_serves_another) {
  MessagePool pool;
  for (const std::size_t bytes :
       {std::size_t{128}, std::size_t{1000}, std::size_t{5000}, std::size_t{16'384}}) {
    std::vector<void*> blocks;
    std::size_t total = 0;
    while (total < 8'000'000) {
      blocks.push_back(pool.take(bytes));
      total += bytes;
    }
    EXPECT_LE(pool.footprint(), 8'000'000u * 12 / 10 + 4 * MessagePool::kSlabBytes) << bytes;
    for (void* block : blocks) pool.give(block, bytes);
  }
  EXPECT_LE(pool.footprint(), 8 * MessagePool::kSlabBytes);
}

TEST(ClosedIds, contiguous_counters_are_one_range) {
  ClosedIds closed;
  for (std::uint32_t counter = 0; counter < 100'000; ++counter) {
    closed.add(ContextId::make(3, counter));
    closed.add(ContextId::make(3, counter).on(Channel::collective));
  }
  EXPECT_EQ(closed.ranges(ContextId::make(3, 0)), 1u);
  EXPECT_TRUE(closed.contains(ContextId::make(3, 99'999)));
  EXPECT_FALSE(closed.contains(ContextId::make(3, 100'000)));
  EXPECT_FALSE(closed.contains(ContextId::make(4, 5)));
  EXPECT_FALSE(closed.contains(ContextId::make((1u << 24) + 3, 5)));
}

TEST(ClosedIds, any_order_gives_the_same_set) {
  std::mt19937 random(7);
  ClosedIds closed;
  std::set<std::uint32_t> reference;
  for (int i = 0; i < 3000; ++i) {
    const auto counter = std::uint32_t(random() % 2000);
    closed.add(ContextId::make(0, counter));
    reference.insert(counter);
  }
  for (std::uint32_t counter = 0; counter < 2100; ++counter) {
    EXPECT_EQ(closed.contains(ContextId::make(0, counter)), reference.count(counter) == 1) << counter;
  }
}

TEST(ClosedIds, gaps_are_bounded_and_the_young_ones_stay_exact) {
  ClosedIds closed;
  for (std::uint32_t counter = 0; counter < 20'000; counter += 2) closed.add(ContextId::make(0, counter));
  EXPECT_EQ(closed.ranges(ContextId::make(0, 0)), ClosedIds::kRangesMax);
  for (std::uint32_t counter = 18'001; counter < 20'000; counter += 2) {
    EXPECT_FALSE(closed.contains(ContextId::make(0, counter)));
    EXPECT_TRUE(closed.contains(ContextId::make(0, counter - 1)));
  }
}

TEST(Transfers, an_id_finds_nothing_once_its_request_is_gone) {
  TransferTable table;
  Peer peer({0, 1}, 0);
  Request first, second;
  Transfer* const one = table.add(first, peer);
  ASSERT_NE(one, nullptr);
  const std::uint64_t a = one->id;
  EXPECT_NE(a, 0u);
  EXPECT_EQ(table.find(a), one);
  EXPECT_EQ(one->request, &first);
  table.remove(*one);
  const std::uint64_t b = table.add(second, peer)->id;
  EXPECT_EQ(table.find(a), nullptr);
  EXPECT_EQ(table.find(b)->request, &second);
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(~std::uint64_t{0}), nullptr);
  EXPECT_EQ(table.live(), 1u);
}

TEST(Transfers, many_stay_where_they_are_and_are_all_found) {
  TransferTable table;
  Peer peer({0, 1}, 0);
  std::vector<Request> requests(5000);
  std::vector<Transfer*> transfers;
  for (Request& request : requests) transfers.push_back(table.add(request, peer));
  std::set<std::uint64_t> ids;
  for (std::size_t at = 0; at < requests.size(); ++at) {
    EXPECT_EQ(transfers[at]->request, &requests[at]);
    EXPECT_EQ(table.find(transfers[at]->id), transfers[at]);
    ids.insert(transfers[at]->id);
  }
  EXPECT_EQ(ids.size(), requests.size());
  std::size_t seen = 0;
  table.each([&](Transfer& transfer) {
    if (++seen % 2 == 0) table.remove(transfer);
  });
  EXPECT_EQ(seen, requests.size());
  EXPECT_EQ(table.live(), requests.size() / 2);
  for (std::size_t at = 0; at < requests.size() / 2; ++at) ASSERT_NE(table.add(requests[at], peer), nullptr);
  EXPECT_EQ(table.live(), requests.size());
}

TEST(Context, a_rank_costs_nothing_until_touched) {
  Context context(kWorld, Rank{0}, std::make_shared<Strip>(1'000'000));
  Peer peer({0, 1}, 0);
  EXPECT_EQ(context.touched(Rank{999'999}), nullptr);
  EXPECT_EQ(context.touched(Rank{1'000'000}), nullptr);
  EXPECT_EQ(context.touched(Rank{-1}), nullptr);
  std::vector<Source*> sources;
  for (const std::int32_t rank : {0, 511, 512, 999'999, 5, 6, 7, 8}) {
    sources.push_back(&context.touch(Rank{rank}, peer));
    EXPECT_EQ(context.touched(Rank{rank}), sources.back());
  }
  std::size_t seen = 0;
  context.each_source([&](Source&) { ++seen; });
  EXPECT_EQ(seen, 8u);
  for (Source* source : sources) EXPECT_EQ(context.touched(source->rank), source);
}

TEST(Context, the_window_is_the_share_of_the_cap_within_its_bounds) {
  Config config;
  EXPECT_EQ(credit_window(config), 1024 * 1024);
  config.world_size = 1024;
  EXPECT_EQ(credit_window(config), 64 * 1024);
  config.world_size = 1'000'000;
  EXPECT_EQ(credit_window(config), 16 * 1024);
}

}  // namespace
}  // namespace starling::pml::test

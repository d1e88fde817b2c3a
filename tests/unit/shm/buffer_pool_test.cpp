// SPDX-License-Identifier: BSD-3-Clause
// Buffers and their handles.
#include "frameworks/shm/memory/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace starling::shm {
namespace {

constexpr std::size_t kBytes = 64 * BufferPool::kBlock;

struct BufferPoolTest : ::testing::Test {
  BufferPoolTest() : memory(static_cast<std::byte*>(std::aligned_alloc(BufferPool::kBlock, kBytes))) {
    pool.open(memory.get(), kBytes, false);
  }
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> memory;
  BufferPool pool;
};

TEST_F(BufferPoolTest, a_buffer_lies_in_the_range) {
  const auto handle = pool.take(5000);
  ASSERT_TRUE(handle);
  const auto* const buffer = pool.find(handle);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->bytes, 5000u);
  EXPECT_EQ(buffer->shown, buffer->memory);
  EXPECT_LT(pool.offset_of(*buffer), kBytes);
  EXPECT_EQ(pool.counters().ordinary, 0u);
  pool.give(handle);
}

TEST_F(BufferPoolTest, what_is_lent_goes_back_to_its_owner_once) {
  struct Owner final : HeldBytes {
    void release() noexcept override { ++released; }
    int released = 0;
  } owner;
  std::byte bytes[100];
  const auto handle = pool.lend(bytes, sizeof bytes, owner);
  ASSERT_TRUE(handle);
  const auto own = pool.take(100);
  EXPECT_EQ(pool.find(handle)->shown, bytes);
  EXPECT_EQ(pool.find(handle)->bytes, sizeof bytes);
  EXPECT_EQ(pool.counters().out, 2u);
  EXPECT_EQ(pool.counters().ordinary, 0u);
  pool.give(own);
  EXPECT_EQ(owner.released, 0);
  pool.give(handle);
  pool.give(handle);
  EXPECT_EQ(owner.released, 1);
  EXPECT_EQ(pool.find(handle), nullptr);
  EXPECT_EQ(pool.counters().out, 0u);
  const auto next = pool.take(100);  // in the slot of what was lent
  pool.give(next);
  EXPECT_EQ(owner.released, 1);
}

TEST_F(BufferPoolTest, what_has_no_room_is_ordinary_memory) {
  const auto all = pool.take(kBytes), more = pool.take(1), longer = pool.take(2 * kBytes);
  ASSERT_TRUE(all && more && longer);
  EXPECT_EQ(pool.offset_of(*pool.find(more)), BufferPool::kElsewhere);
  std::memset(pool.find(longer)->memory, 1, 2 * kBytes);
  EXPECT_EQ(pool.counters().ordinary, 2u);
  EXPECT_EQ(pool.counters().out, 3u);
  for (const auto handle : {all, more, longer}) pool.give(handle);
  EXPECT_EQ(pool.counters().out, 0u);
}

TEST_F(BufferPoolTest, a_handle_that_was_given_back_finds_nothing) {
  const auto first = pool.take(100);
  pool.give(first);
  EXPECT_EQ(pool.find(first), nullptr);
  const auto second = pool.take(100);
  EXPECT_FALSE(first == second);
  EXPECT_EQ(pool.find(first), nullptr);
  EXPECT_NE(pool.find(second), nullptr);
  pool.give(first);  // nothing
  EXPECT_NE(pool.find(second), nullptr);
  pool.give(second);
}

TEST_F(BufferPoolTest, no_number_but_a_handle_finds_a_buffer) {
  const auto handle = pool.take(100);
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    const BufferPool::Handle wrong{random()};
    ASSERT_TRUE(wrong == handle || pool.find(wrong) == nullptr);
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    ASSERT_EQ(pool.find({handle.bits ^ (std::uint64_t{1} << bit)}), nullptr) << "bit " << bit;
  }
  EXPECT_EQ(pool.find({0}), nullptr);
  pool.give(handle);
}

TEST_F(BufferPoolTest, what_has_to_lie_in_the_range_is_refused_without_room) {
  const auto most = pool.take(kBytes / 2, BufferPool::Where::in_range);
  const auto rest = pool.take(kBytes / 2, BufferPool::Where::in_range);
  ASSERT_TRUE(most && rest);
  EXPECT_FALSE(pool.take(1, BufferPool::Where::in_range));
  EXPECT_EQ(pool.counters().ordinary, 0u);
  pool.give(most);
  EXPECT_TRUE(pool.take(1, BufferPool::Where::in_range));
  pool.give(rest);
}

TEST_F(BufferPoolTest, without_a_range_all_is_ordinary) {
  BufferPool none;
  const auto handle = none.take(7);
  ASSERT_TRUE(handle);
  EXPECT_EQ(none.offset_of(*none.find(handle)), BufferPool::kElsewhere);
  none.give(handle);
}

TEST_F(BufferPoolTest, what_is_impossible_is_no_buffer) { EXPECT_FALSE(pool.take(~std::size_t{0} - 5)); }

/// Each buffer keeps what was written to it while others come and go.
TEST_F(BufferPoolTest, random_buffers_keep_their_bytes) {
  struct Out {
    BufferPool::Handle handle;
    unsigned char mark;
  };
  std::vector<Out> out;
  std::mt19937 random(11);
  for (int step = 0; step < 50'000; ++step) {
    if (random() % 2 == 0 || out.empty()) {
      const std::size_t bytes = 1 + random() % 40000;
      const auto handle = pool.take(bytes);
      ASSERT_TRUE(handle);
      const auto mark = static_cast<unsigned char>(step);
      std::memset(pool.find(handle)->memory, mark, bytes);
      out.push_back({handle, mark});
    } else {
      const std::size_t at = random() % out.size();
      const auto* const buffer = pool.find(out[at].handle);
      ASSERT_NE(buffer, nullptr);
      ASSERT_EQ(static_cast<unsigned char>(buffer->memory[0]), out[at].mark);
      ASSERT_EQ(static_cast<unsigned char>(buffer->memory[buffer->bytes - 1]), out[at].mark);
      pool.give(out[at].handle);
      out[at] = out.back();
      out.pop_back();
    }
    if (out.size() > 40) {
      pool.give(out.back().handle);
      out.pop_back();
    }
  }
  EXPECT_EQ(pool.counters().out, out.size());
  for (const Out& one : out) pool.give(one.handle);
}

}  // namespace
}  // namespace starling::shm

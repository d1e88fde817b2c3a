// SPDX-License-Identifier: BSD-3-Clause
// The table of address ranges, in one process.

#include "frameworks/shm/memory/range_table.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "frameworks/shm/memory/table.hpp"

namespace starling {
namespace {

using shm::Look;
using shm::Range;

class RangeTable : public testing::Test {
 protected:
  std::unique_ptr<shm::MemoryTable> memory = std::make_unique<shm::MemoryTable>();
  shm::MemoryRanges table{shm::MappedWords(*memory)};

  std::uint64_t id_at(std::uint64_t address, std::uint64_t bytes = 1) const {
    const shm::Found found = table.find(address, bytes);
    return found.look == Look::found ? found.range.id : 0;
  }
};

TEST_F(RangeTable, finds_nothing_when_empty) {
  EXPECT_EQ(table.find(0, 1).look, Look::none);
  EXPECT_EQ(table.find(4096, 0).look, Look::none);
  EXPECT_EQ(table.find(~std::uint64_t{0}, 1).look, Look::none);
}

TEST_F(RangeTable, finds_what_lies_whole_in_one_range) {
  ASSERT_TRUE(table.insert({1000, 100, 7, 70}));
  ASSERT_TRUE(table.insert({1100, 100, 8, 80}));
  EXPECT_EQ(id_at(999), 0u);
  EXPECT_EQ(id_at(1000), 7u);
  EXPECT_EQ(id_at(1099), 7u);
  EXPECT_EQ(id_at(1100), 8u);
  EXPECT_EQ(id_at(1199), 8u);
  EXPECT_EQ(id_at(1200), 0u);
  EXPECT_EQ(id_at(1000, 100), 7u);
  EXPECT_EQ(id_at(1000, 101), 0u);
  EXPECT_EQ(id_at(1050, 100), 0u);
  EXPECT_EQ(id_at(1150, ~std::uint64_t{0}), 0u);
  EXPECT_EQ(table.find(1150, 1).range.key, 80u);
}

TEST_F(RangeTable, overlapping_empty_and_wrapping_ranges_are_refused) {
  ASSERT_TRUE(table.insert({1000, 100, 1, 0}));
  EXPECT_FALSE(table.insert({1000, 100, 2, 0}));
  EXPECT_FALSE(table.insert({950, 51, 2, 0}));
  EXPECT_FALSE(table.insert({1099, 1, 2, 0}));
  EXPECT_FALSE(table.insert({900, 400, 2, 0}));
  EXPECT_FALSE(table.insert({2000, 0, 2, 0}));
  EXPECT_FALSE(table.insert({~std::uint64_t{0}, 2, 2, 0}));
  EXPECT_TRUE(table.insert({950, 50, 2, 0}));
  EXPECT_TRUE(table.insert({1100, 1, 3, 0}));
  EXPECT_EQ(table.count(), 3u);
}

TEST_F(RangeTable, erases_by_exact_base_and_keeps_the_rest) {
  for (std::uint64_t i = 1; i <= 5; ++i) ASSERT_TRUE(table.insert({i * 1000, 10, i, 0}));
  EXPECT_FALSE(table.erase(3001));
  EXPECT_FALSE(table.erase(500));
  EXPECT_TRUE(table.erase(3000));
  EXPECT_FALSE(table.erase(3000));
  EXPECT_EQ(id_at(3000), 0u);
  EXPECT_EQ(id_at(2000), 2u);
  EXPECT_EQ(id_at(4000), 4u);
  EXPECT_TRUE(table.erase(1000));
  EXPECT_TRUE(table.erase(5000));
  EXPECT_EQ(id_at(4009), 4u);
  EXPECT_EQ(id_at(1000), 0u);
  EXPECT_EQ(id_at(5000), 0u);
}

TEST_F(RangeTable, is_full_at_its_size_and_sorted_whatever_the_order) {
  constexpr std::uint64_t kMost = shm::kMemoryObjectsMost;
  for (std::uint64_t i = 0; i < kMost; ++i) {
    const std::uint64_t at = i * 97 % kMost;  // 97 and 256 have no common factor
    ASSERT_TRUE(table.insert({4096 + at * 100, 100, at + 1, 0}));
  }
  EXPECT_FALSE(table.insert({1 << 30, 1, 999, 0}));
  for (std::uint64_t i = 0; i < kMost; ++i) ASSERT_EQ(id_at(4096 + i * 100 + 99), i + 1);
}

TEST_F(RangeTable, version_changes_with_each_change_and_no_other) {
  const std::uint64_t first = table.version();
  ASSERT_TRUE(table.insert({1000, 100, 1, 0}));
  const std::uint64_t second = table.version();
  EXPECT_NE(second, first);
  EXPECT_FALSE(table.insert({1000, 100, 1, 0}));
  (void)table.find(1000, 1);
  EXPECT_EQ(table.version(), second);
  table.clear();
  EXPECT_NE(table.version(), second);
  EXPECT_EQ(id_at(1000), 0u);
}

TEST_F(RangeTable, a_writer_that_died_in_a_change_does_not_hold_readers_up) {
  ASSERT_TRUE(table.insert({1000, 100, 1, 0}));
  memory->sequence.fetch_add(1);
  EXPECT_EQ(table.find(1000, 1).look, Look::changing);
}

}  // namespace
}  // namespace starling

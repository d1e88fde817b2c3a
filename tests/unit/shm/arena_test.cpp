// SPDX-License-Identifier: BSD-3-Clause
// The arena: extents of shared memory, from several processes at once.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "frameworks/shm/arena.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling {
namespace {

using shm::class_of_pages;
using shm::kSizeClasses;
using shm::NodeSegment;
using shm::pages_of_class;
using test::join;
using test::make_memfd;
using test::small_geometry;

std::size_t kib_in_use(const UniqueFd& memfd) {
  struct stat facts {};
  EXPECT_EQ(::fstat(memfd.get(), &facts), 0);
  return static_cast<std::size_t>(facts.st_blocks) / 2;
}

TEST(Arena, classes_are_close_and_every_size_has_the_first_that_holds_it) {
  EXPECT_EQ(class_of_pages(0), 0u);
  for (std::uint32_t size_class = 0; size_class < kSizeClasses; ++size_class) {
    const std::uint64_t pages = pages_of_class(size_class);
    EXPECT_EQ(class_of_pages(pages), size_class);
    EXPECT_EQ(class_of_pages(pages + 1), size_class + 1);
    const std::uint64_t next = pages_of_class(size_class + 1);
    EXPECT_GT(next, pages);
    EXPECT_LE(next - pages, size_class < 3 ? 1 : pages / 4);
  }
}

TEST(Arena, rounds_up_to_classes_and_counts_what_is_used) {
  const auto geometry = small_geometry(1);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  const auto small = mine.allocate(1);
  const auto large = mine.allocate(20000);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(mine.arena_used(), 4096u + 20480u);
  std::memset(mine.at(*small), 1, 4096);
  std::memset(mine.at(*large), 2, 20480);
  EXPECT_EQ(*mine.at(*small), std::byte{1});
  mine.release(*small, 1);
  mine.release(*large, 20000);
  EXPECT_EQ(mine.arena_used(), 0u);
}

TEST(Arena, a_released_extent_is_used_again) {
  const auto geometry = small_geometry(1);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  const std::uint64_t first = *mine.allocate(8192);
  mine.release(first, 8192);
  EXPECT_EQ(*mine.allocate(8000), first);
}

TEST(Arena, exhaustion_is_an_error_that_names_the_parameter) {
  const auto geometry = small_geometry(1, 64 * 1024);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(mine.allocate(4096));
  const auto refused = mine.allocate(4096);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::no_space);
  EXPECT_NE(refused.error().text().find("shm_arena_bytes"), std::string::npos);
}

TEST(Arena, a_larger_free_extent_is_split_when_nothing_else_is_left) {
  const auto geometry = small_geometry(1, 64 * 1024);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  const std::uint64_t whole = *mine.allocate(64 * 1024);
  mine.release(whole, 64 * 1024);
  std::set<std::uint64_t> pieces;
  for (int i = 0; i < 16; ++i) {
    const auto piece = mine.allocate(4096);
    ASSERT_TRUE(piece) << piece.error().text();
    std::memset(mine.at(*piece), i, 4096);
    pieces.insert(*piece);
  }
  EXPECT_EQ(pieces.size(), 16u);
  EXPECT_FALSE(mine.allocate(4096));
}

TEST(Arena, what_is_left_of_a_split_extent_is_used_to_the_last_page) {
  for (const std::uint32_t pages : {1u, 3u, 5u, 7u, 11u, 64u, 100u, 128u, 200u, 224u}) {
    const auto geometry = small_geometry(1, 1 << 20);
    const UniqueFd memfd = make_memfd(geometry);
    NodeSegment mine = join(memfd, geometry, 0);
    mine.release(*mine.allocate(1 << 20), 1 << 20);
    const std::uint64_t first = *mine.allocate(pages * 4096);
    const std::uint64_t end = first + mine.arena_used();
    std::set<std::uint64_t> rest;
    while (const auto piece = mine.allocate(4096)) rest.insert(*piece);
    EXPECT_EQ(rest.size(), 256 - (end - first) / 4096) << pages;
    for (const std::uint64_t piece : rest) EXPECT_TRUE(piece < first || piece >= end) << pages;
  }
}

TEST(Arena, a_large_released_extent_gives_its_memory_back) {
  const auto geometry = small_geometry(1);
  const UniqueFd memfd = make_memfd(geometry);
  NodeSegment mine = join(memfd, geometry, 0);
  const std::uint64_t large = *mine.allocate(1 << 20);
  std::memset(mine.at(large), 1, 1 << 20);
  EXPECT_GE(kib_in_use(memfd), 1024u);
  mine.release(large, 1 << 20);
  EXPECT_LT(kib_in_use(memfd), 512u);
  ASSERT_EQ(*mine.allocate(1 << 20), large);
  std::memset(mine.at(large), 1, 1 << 20);
}

/// Takes and returns extents at random, writing a mark over each, and fails if somebody else wrote on it
/// meanwhile.
int churn(NodeSegment segment, unsigned seed, int rounds) {
  struct Held {
    std::uint64_t offset;
    std::size_t bytes;
  };
  std::vector<Held> held;
  unsigned random = seed * 2654435761u + 1;
  for (int round = 0; round < rounds; ++round) {
    random = random * 1664525u + 1013904223u;
    if (held.size() < 8 && (random >> 16) % 2 == 0) {
      const std::size_t bytes = std::size_t{4096} << (random >> 20) % 4;
      const auto got = segment.allocate(bytes);
      if (!got) continue;
      std::memset(segment.at(*got), static_cast<int>(seed), bytes);
      held.push_back({*got, bytes});
    } else if (!held.empty()) {
      const Held last = held.back();
      held.pop_back();
      for (std::size_t i = 0; i < last.bytes; i += 64) {
        if (segment.at(last.offset)[i] != static_cast<std::byte>(seed)) return 1;
      }
      segment.release(last.offset, last.bytes);
    }
  }
  for (const Held& last : held) segment.release(last.offset, last.bytes);
  return 0;
}

TEST(Arena, processes_never_share_an_extent) {
  const auto geometry = small_geometry(3, 512 * 1024);
  const UniqueFd memfd = make_memfd(geometry);
  std::vector<pid_t> children;
  for (unsigned rank = 0; rank < 3; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) _exit(churn(join(memfd, geometry, rank), rank + 1, 30000));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(join(memfd, geometry, 0).arena_used(), 0u);
}

TEST(Arena, goes_on_when_a_process_dies_anywhere) {
  const auto geometry = small_geometry(3, 4u << 20);
  const UniqueFd memfd = make_memfd(geometry);
  for (unsigned round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) _exit(churn(join(memfd, geometry, 1), 1, 1 << 30));
    ::usleep(1000 + 137 * round);
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ASSERT_EQ(churn(join(memfd, geometry, 0), 2, 2000), 0);
  }
  EXPECT_TRUE(join(memfd, geometry, 0).allocate(4096));
}

}  // namespace
}  // namespace starling

// SPDX-License-Identifier: BSD-3-Clause
// Whether long records are cleaned when that is faster, or as the user has fixed it; what a reader then does.

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "core/atomics.hpp"
#include "plugins/btl/shm/cleaning.hpp"
#include "plugins/btl/shm/layout.hpp"

namespace starling::test {
namespace {

using btl::Cleaning;
using btl::CleanLong;
using btl::LongCleaning;
using Costs = std::array<std::uint64_t, 3>;  // in the order of CleanLong

/// Reads stretches until a trial has ended; what it has chosen.
CleanLong chosen(Cleaning& cleaning, const Costs& costs) {
  while (!cleaning.took(costs[static_cast<unsigned>(cleaning.when())])) {
  }
  return cleaning.when();
}

TEST(Cleaning, the_fastest_way_is_chosen) {
  for (unsigned fastest = 0; fastest < 3; ++fastest) {
    Cleaning cleaning(LongCleaning::automatic);
    Costs costs{4000, 5000, 6000};
    costs[fastest] = 2000;
    EXPECT_EQ(chosen(cleaning, costs), static_cast<CleanLong>(fastest));
    for (unsigned way = 0; way < 3; ++way)
      EXPECT_EQ(cleaning.cost_ns(static_cast<CleanLong>(way)), costs[way]);
  }
}

TEST(Cleaning, when_idle_is_tried_first_and_stays_where_the_ways_cost_about_the_same) {
  Cleaning cleaning(LongCleaning::automatic);
  EXPECT_EQ(cleaning.when(), CleanLong::when_idle);
  EXPECT_EQ(chosen(cleaning, {4000, 3600, 3600}), CleanLong::when_idle);
}

TEST(Cleaning, messages_that_become_longer_during_the_trial_decide_nothing) {
  Cleaning cleaning(LongCleaning::automatic);
  unsigned stretches = 0;
  while (!cleaning.took(++stretches < 18 ? 51000 : 23000)) {
  }
  EXPECT_EQ(cleaning.when(), CleanLong::when_idle);
}

TEST(Cleaning, what_the_user_fixed_is_not_tried) {
  for (const auto& [use, when] : {std::pair{LongCleaning::when_idle, CleanLong::when_idle},
                                  std::pair{LongCleaning::never, CleanLong::never},
                                  std::pair{LongCleaning::always, CleanLong::always}}) {
    Cleaning cleaning(use);
    for (unsigned at = 0; at < 100; ++at) {
      EXPECT_FALSE(cleaning.took(at % 2));
      EXPECT_EQ(cleaning.when(), when);
    }
  }
}

TEST(Cleaning, when_idle_a_reader_leaves_what_it_gives_back_in_a_stream) {
  using btl::MappedRing;
  constexpr std::uint32_t kLong = MappedRing::kLongCells;
  constexpr std::size_t kBytes = sizeof(btl::LaneHeader) + std::size_t{8} * kLong * btl::kCellBytes;
  alignas(64) static std::byte memory[kBytes];
  const MappedRing ring(memory, kBytes);
  btl::LaneWriter<StdAtomics, MappedRing> writer(ring);
  writer.create();
  btl::LaneReader<StdAtomics, MappedRing> reader(ring);
  reader.clean_long(CleanLong::when_idle);
  const auto pass = [&] {
    const std::uint32_t cell = writer.reserve(kLong);
    writer.commit(kLong, btl::record_header(btl::RecordKind::data, 1));
    EXPECT_NE(reader.peek(), 0u);
    reader.pop(kLong);
    return cell;
  };
  const std::uint32_t alone = pass();
  EXPECT_FALSE(reader.gave_back());
  reader.tidy();
  EXPECT_TRUE(reader.gave_back());
  EXPECT_EQ(ring.head(alone).load(), 0u);
  const std::uint32_t first = pass();
  EXPECT_FALSE(reader.gave_back());
  pass();
  EXPECT_TRUE(reader.gave_back()) << "a quarter has been read";
  EXPECT_NE(ring.head(first).load(), 0u);
}

}  // namespace
}  // namespace starling::test

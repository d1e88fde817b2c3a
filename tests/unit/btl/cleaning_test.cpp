// SPDX-License-Identifier: BSD-3-Clause
// Whether long records are cleaned when that is faster, or as the user has fixed it; what a reader then does.

#include <gtest/gtest.h>

#include <array>
#include <memory>
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

/// A lane of eight long records.
struct Lane {
  using Ring = btl::MappedRing;
  static constexpr std::uint32_t kLong = Ring::kLongCells;
  static constexpr std::size_t kBytes = sizeof(btl::LaneHeader) + std::size_t{8} * kLong * btl::kCellBytes;

  explicit Lane(CleanLong when) {
    writer.create();
    reader = btl::LaneReader<StdAtomics, Ring>(ring);
    reader.clean_long(when);
  }
  bool write(std::uint32_t cells) {
    if (writer.reserve(cells) == btl::kNoCell) return false;
    writer.commit(cells, btl::record_header(btl::RecordKind::data, 1));
    return true;
  }
  bool read(std::uint32_t cells) {
    if (reader.peek() == 0) return false;
    reader.pop(cells);
    return true;
  }
  /// The first cell of a record that was written and read.
  std::uint32_t pass(std::uint32_t cells) {
    const std::uint32_t cell = writer.reserve(cells);
    EXPECT_TRUE(write(cells) && read(cells));
    return cell;
  }

  alignas(64) std::array<std::byte, kBytes> memory{};
  Ring ring{memory.data(), kBytes};
  btl::LaneWriter<StdAtomics, Ring> writer{ring};
  btl::LaneReader<StdAtomics, Ring> reader;
};

/// Whether the cell of a long record is clean after it was given back, when idle and in a stream.
std::pair<bool, bool> cleaned(CleanLong when) {
  const auto lane = std::make_unique<Lane>(when);
  const std::uint32_t alone = lane->pass(Lane::kLong);
  EXPECT_FALSE(lane->reader.gave_back());
  lane->reader.tidy();
  EXPECT_TRUE(lane->reader.gave_back());
  const bool idle = lane->ring.head(alone).load() == 0;
  const std::uint32_t first = lane->pass(Lane::kLong);
  EXPECT_FALSE(lane->reader.gave_back());
  lane->pass(Lane::kLong);
  EXPECT_TRUE(lane->reader.gave_back()) << "a quarter has been read";
  return {idle, lane->ring.head(first).load() == 0};
}

TEST(Cleaning, a_reader_cleans_when_it_is_told_to) {
  EXPECT_EQ(cleaned(CleanLong::when_idle), std::pair(true, false));
  EXPECT_EQ(cleaned(CleanLong::never), std::pair(false, false));
  EXPECT_EQ(cleaned(CleanLong::always), std::pair(true, true));
}

TEST(Cleaning, what_was_given_back_is_not_touched_again) {
  for (const CleanLong when : {CleanLong::when_idle, CleanLong::never, CleanLong::always}) {
    const auto lane = std::make_unique<Lane>(when);
    lane->pass(Lane::kLong);
    lane->reader.tidy();
    for (int i = 0; i < 3; ++i) lane->pass(1);
    lane->reader.tidy();
    unsigned written = 0, read = 0;
    while (lane->write(1)) ++written;  // all around, where those were
    EXPECT_EQ(written, 8 * Lane::kLong - 1);
    read += lane->read(1) ? 1 : 0;
    lane->reader.tidy();
    while (lane->read(1)) ++read;
    EXPECT_EQ(read, written) << static_cast<int>(when);
  }
}

}  // namespace
}  // namespace starling::test

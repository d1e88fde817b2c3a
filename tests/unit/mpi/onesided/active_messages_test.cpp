// SPDX-License-Identifier: BSD-3-Clause
// Active messages, asked and done by one process: who waits for an answer answers. Layer: tests.

#include "mpi/onesided/active_messages.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "tests/unit/mpi/onesided/lone_window.hpp"

namespace starling::mpi {
namespace {

struct ActiveMessagesTest : testing::Test {
  static constexpr std::uint64_t kAt = 24;
  test::LoneWindow window{2 * ActiveMessage::kMost};
  Hold lock{registry().lock, Hold::always};
  ActiveMessages active_messages{window.win()};

  template <class T>
  T there() {
    T value;
    std::memcpy(&value, window.memory().data() + kAt, sizeof value);
    return value;
  }
  template <class T>
  void set(T value) {
    std::memcpy(window.memory().data() + kAt, &value, sizeof value);
  }
  template <class T>
  static std::span<std::byte> bytes_of(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
  }
};

TEST_F(ActiveMessagesTest, puts_and_gets_what_lies_beside_the_word_and_what_does_not) {
  active_messages.serve();
  for (const std::size_t bytes :
       {std::size_t{1}, ActiveMessage::kHere, ActiveMessage::kHere + 1, ActiveMessage::kMost}) {
    std::vector<std::byte> out(bytes), back(bytes);
    for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + bytes);
    EXPECT_EQ(active_messages.put(0, kAt, out), 0);
    EXPECT_EQ(std::memcmp(window.memory().data() + kAt, out.data(), bytes), 0);
    EXPECT_EQ(window.memory()[kAt + bytes], std::byte{0}) << bytes;
    EXPECT_EQ(active_messages.get(0, kAt, back), 0);
    EXPECT_EQ(back, out);
    std::memset(window.memory().data(), 0, window.memory().size());
  }
}

TEST_F(ActiveMessagesTest, accumulates_and_gives_what_was_there) {
  active_messages.serve();
  set<std::array<double, 2>>({1, 2});
  const std::array<double, 2> add{10, 20};
  std::array<double, 2> before{};
  const auto accumulate = [&](OpCode code, std::byte* out) {
    return active_messages.accumulate(0, kAt, code, Basic::float64, std::as_bytes(std::span(add)).data(), out,
                                      2);
  };
  EXPECT_EQ(accumulate(OpCode::sum, nullptr), 0);
  EXPECT_EQ((there<std::array<double, 2>>()), (std::array<double, 2>{11, 22}));
  EXPECT_EQ(accumulate(OpCode::replace, bytes_of(before).data()), 0);
  EXPECT_EQ(before, (std::array<double, 2>{11, 22}));
  EXPECT_EQ((there<std::array<double, 2>>()), add);
  EXPECT_EQ(
      active_messages.accumulate(0, kAt, OpCode::no_op, Basic::float64, nullptr, bytes_of(before).data(), 2),
      0);
  EXPECT_EQ(before, add);
}

TEST_F(ActiveMessagesTest, swaps_only_what_is_as_expected) {
  active_messages.serve();
  set<std::int64_t>(5);
  const std::int64_t fresh = 9;
  for (const std::int64_t compare : {std::int64_t{4}, std::int64_t{5}}) {
    std::int64_t result = 0;
    EXPECT_EQ(active_messages.swap(0, kAt, sizeof result, &fresh, &compare, &result), 0);
    EXPECT_EQ(result, 5);
    EXPECT_EQ(there<std::int64_t>(), compare == 5 ? 9 : 5);
  }
}

TEST_F(ActiveMessagesTest, accumulate_series_of_elements_with_gaps) {
  active_messages.serve();
  std::vector<std::uint32_t> values(window.memory().size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(1000 * i);
  std::memcpy(window.memory().data(), values.data(), window.memory().size());
  // Every third int across the end of a stripe; pairs at every fifth; one alone, from behind.
  const std::array<ActiveMessageRuns, 3> series{
      {{4 * 1000, 12, 1, 50}, {4 * 10, 20, 2, 20}, {4 * 9, -12, 1, 3}}};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < 50; ++i) places.push_back(1000 + 3 * i);
  for (std::size_t i = 0; i < 40; ++i) places.push_back(10 + i / 2 * 5 + i % 2);
  for (std::size_t i = 0; i < 3; ++i) places.push_back(9 - 3 * i);
  std::vector<std::uint32_t> in(places.size()), before(places.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(i + 1);
  const auto* const from = std::as_bytes(std::span(in)).data();
  auto* const to = std::as_writable_bytes(std::span(before)).data();
  EXPECT_EQ(active_messages.accumulate(0, series, OpCode::sum, Basic::uint32, from, nullptr, false), 0);
  EXPECT_EQ(active_messages.accumulate(0, series, OpCode::sum, Basic::uint32, from, to, false), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(before[i], values[places[i]] + in[i]);
    values[places[i]] += 2 * in[i];
  }
  EXPECT_EQ(active_messages.accumulate(0, series, OpCode::no_op, Basic::uint32, nullptr, to, false), 0);
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(before[i], values[places[i]]);
  EXPECT_EQ(std::memcmp(window.memory().data(), values.data(), window.memory().size()), 0);
}

TEST_F(ActiveMessagesTest, are_left_to_the_caller_if_they_are_too_long) {
  active_messages.serve();
  std::vector<std::byte> bytes(ActiveMessage::kMost + 1);
  EXPECT_EQ(active_messages.put(0, 0, bytes), std::nullopt);
  EXPECT_EQ(active_messages.put(0, 0, std::span(bytes).first(1)), 0);
}

TEST_F(ActiveMessagesTest, are_taken_back_if_nobody_hears_them) {
  std::uint64_t value = 7;
  EXPECT_EQ(active_messages.put(0, kAt, bytes_of(value)), std::nullopt);
  ActiveMessages late(window.win());
  late.serve();
  EXPECT_EQ(late.progress(), 0);
  EXPECT_EQ(there<std::uint64_t>(), 0u);
  EXPECT_EQ(late.put(0, kAt, bytes_of(value)), 0);
  EXPECT_EQ(there<std::uint64_t>(), 7u);
}

TEST_F(ActiveMessagesTest, do_not_wait_for_another_origin) {
  active_messages.serve();
  const ActiveMessageWord<StdAtomics> word(window.win().control().active_message(0).word);
  std::uint64_t value = 7;
  ASSERT_TRUE(word.take());
  EXPECT_EQ(active_messages.put(0, kAt, bytes_of(value)), std::nullopt);
  word.release();
  EXPECT_EQ(active_messages.put(0, kAt, bytes_of(value)), 0);
}

}  // namespace
}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Messages that come by several paths are taken in the order sent; no more are held than the window allows.
#include "frameworks/peer/reorder.hpp"

#include <algorithm>
#include <random>

#include "tests/unit/pml/job.hpp"

namespace starling::peer {
namespace {

using pml::test::filled;

std::vector<std::byte> message_of(std::uint64_t number) { return filled(number % 40, number); }

/// What is delivered when messages come in this order.
std::vector<std::vector<std::byte>> delivered(Reorder& reorder, const std::vector<std::uint64_t>& numbers) {
  std::vector<std::vector<std::byte>> all;
  for (const std::uint64_t number : numbers) {
    const auto bytes = message_of(number);
    if (reorder.offer(number, bytes) != Reorder::Place::next) continue;
    all.push_back(bytes);
    while (auto next = reorder.take()) all.push_back(*std::move(next));
  }
  return all;
}

TEST(Reorder, any_order_within_the_window_is_mended) {
  std::mt19937 random{7};
  constexpr std::uint64_t kCount = 3 * Reorder::kWindow;
  std::vector<std::uint64_t> numbers(kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) numbers[i] = i + 1;
  for (const std::uint64_t block : {std::uint64_t{2}, std::uint64_t{100}, Reorder::kWindow}) {
    for (std::uint64_t at = 0; at < kCount; at += block) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(at);
      std::shuffle(first, numbers.begin() + static_cast<std::ptrdiff_t>(std::min(at + block, kCount)),
                   random);
    }
    Reorder reorder;
    const auto all = delivered(reorder, numbers);
    ASSERT_EQ(all.size(), kCount);
    for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(all[i], message_of(i + 1)) << i;
    EXPECT_EQ(reorder.taken(), kCount);
    EXPECT_EQ(reorder.held(), 0u);
    std::sort(numbers.begin(), numbers.end());
  }
}

TEST(Reorder, numbers_that_cannot_be_are_refused_and_change_nothing) {
  Reorder reorder;
  EXPECT_EQ(reorder.offer(0, message_of(0)), Reorder::Place::refused);
  EXPECT_EQ(reorder.offer(Reorder::kWindow + 1, message_of(1)), Reorder::Place::refused);
  EXPECT_EQ(reorder.offer(~std::uint64_t{0}, message_of(1)), Reorder::Place::refused);
  EXPECT_EQ(reorder.offer(Reorder::kWindow, message_of(1)), Reorder::Place::held);
  EXPECT_EQ(reorder.offer(Reorder::kWindow, message_of(1)), Reorder::Place::refused) << "it came before";
  EXPECT_EQ(reorder.offer(1, message_of(1)), Reorder::Place::next);
  EXPECT_EQ(reorder.offer(1, message_of(1)), Reorder::Place::refused) << "it was taken";
  EXPECT_EQ(reorder.taken(), 1u);
  EXPECT_EQ(reorder.held(), 1u);
}

TEST(Reorder, the_sender_hears_before_it_has_to_stop) {
  Reorder reorder;
  std::uint64_t told = 0;
  for (std::uint64_t number = 1; number <= 5 * Reorder::kWindow; ++number) {
    ASSERT_EQ(reorder.offer(number, message_of(number)), Reorder::Place::next);
    if (reorder.tell()) told = number;
    ASSERT_LT(number - told, Reorder::kWindow / 2);
  }
}

}  // namespace
}  // namespace starling::peer

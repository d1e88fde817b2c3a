// SPDX-License-Identifier: BSD-3-Clause
// Balanced factors against the definition, by trying all lists of factors.
#include "mpi/topology/balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace starling::mpi::topology {
namespace {

using Factors = std::vector<int>;

/// `a` (the largest first) is to be preferred: its ends are closer; else its smallest factor that differs is
/// larger.
bool better(const Factors& a, const Factors& b) {
  const int of_a = a.front() - a.back(), of_b = b.front() - b.back();
  if (of_a != of_b) return of_a < of_b;
  return std::lexicographical_compare(b.rbegin(), b.rend(), a.rbegin(), a.rend());
}

/// The best of all lists of `count` factors, the largest first and none above `limit`.
void try_all(int number, int count, int limit, Factors& prefix, Factors& best) {
  if (count == 0) {
    if (number == 1 && (best.empty() || better(prefix, best))) best = prefix;
    return;
  }
  for (int factor = 1; factor <= std::min(number, limit); ++factor) {
    if (number % factor != 0) continue;
    prefix.push_back(factor);
    try_all(number / factor, count - 1, factor, prefix, best);
    prefix.pop_back();
  }
}

void expect_best(int number, int count) {
  Factors prefix, best;
  try_all(number, count, number, prefix, best);
  EXPECT_EQ(balanced_factors(number, count), best) << number << " in " << count;
}

TEST(Balance, is_the_best_list_of_all) {
  for (int count = 1; count <= 6; ++count) {
    for (int number = 1; number <= 400; ++number) expect_best(number, count);
  }
  // Numbers with many divisors have many lists.
  for (int number = 720; number <= 7920; number += 720) {
    for (int count = 2; count <= 5; ++count) expect_best(number, count);
  }
}

TEST(Balance, the_ends_are_close_even_if_the_largest_could_be_smaller) {
  EXPECT_EQ(balanced_factors(7488, 3), (Factors{26, 18, 16}));  // not 24, 24, 13
  EXPECT_EQ(balanced_factors(5040, 3), (Factors{21, 16, 15}));
  EXPECT_EQ(balanced_factors(6240, 3), (Factors{26, 16, 15}));
  EXPECT_EQ(balanced_factors(5616, 4), (Factors{13, 9, 8, 6}));
}

TEST(Balance, cubes_and_powers_are_even) {
  EXPECT_EQ(balanced_factors(1'000'000'000, 3), (Factors{1000, 1000, 1000}));
  EXPECT_EQ(balanced_factors(1 << 30, 30), Factors(30, 2));
  EXPECT_EQ(balanced_factors(1 << 30, 5), Factors(5, 64));
}

TEST(Balance, a_prime_cannot_be_divided) {
  EXPECT_EQ(balanced_factors(2'147'483'647, 3), (Factors{2'147'483'647, 1, 1}));
}

TEST(Balance, numbers_with_many_divisors_are_quick) {
  for (const int number : {1'396'755'360, 2'095'133'040, 735'134'400, 1'102'701'600, 1'156'034'880}) {
    for (int count = 1; count <= 20; ++count) {
      const Factors factors = balanced_factors(number, count);
      ASSERT_EQ(factors.size(), static_cast<std::size_t>(count));
      EXPECT_TRUE(std::is_sorted(factors.rbegin(), factors.rend()));
      EXPECT_EQ(std::accumulate(factors.begin(), factors.end(), std::int64_t{1}, std::multiplies<>()),
                number);
    }
  }
}

TEST(Balance, more_factors_than_primes_are_filled_up_with_ones) {
  const Factors factors = balanced_factors(6, 1000);
  ASSERT_EQ(factors.size(), 1000u);
  EXPECT_EQ(factors[0], 3);
  EXPECT_EQ(factors[1], 2);
  EXPECT_EQ(std::count(factors.begin(), factors.end(), 1), 998);
}

TEST(Balance, no_factors_make_one) { EXPECT_EQ(balanced_factors(1, 0), Factors{}); }

}  // namespace
}  // namespace starling::mpi::topology

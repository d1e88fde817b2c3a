// SPDX-License-Identifier: BSD-3-Clause
/// @file  The search behind MPI_Dims_create. docs/design/topology.md
///
/// A number below 2^31 has at most 1536 divisors and 9 different primes. Smallest factors are tried from the
/// root of the number down, each with a limit for the largest that only better lists keep, until none can be
/// better. As the limit only falls, what was found to be impossible stays so and no question is asked twice.

#include "mpi/topology/balance.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <set>
#include <utility>

namespace starling::mpi::topology {
namespace {

/// In ascending order.
std::vector<int> divisors_of(int number) {
  std::vector<int> low, high;
  for (int d = 1; std::int64_t{d} * d <= number; ++d) {
    if (number % d != 0) continue;
    low.push_back(d);
    if (d != number / d) high.push_back(number / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// factor ^ count, or limit + 1 if that is less.
std::int64_t power(int factor, int count, int limit) {
  const std::int64_t above = std::int64_t{limit} + 1;
  std::int64_t product = 1;
  for (int i = 0; i < count && product < above && factor != 1; ++i) product *= factor;
  return std::min(product, above);
}

class Search {
 public:
  explicit Search(int number) : number_(number), divisors_(divisors_of(number)), highest_(number) {}

  /// The closest `count` factors in ascending order.
  std::vector<int> closest(int count) {
    const auto reaches = [&](int factor) { return power(factor, count, number_) >= number_; };
    // The largest factor is not below this divisor, the smallest not above it.
    const auto root = std::find_if(divisors_.begin(), divisors_.end(), reaches);
    std::vector<int> best;
    for (auto low = root + 1; low != divisors_.begin();) {
      --low;
      if (!best.empty()) highest_ = *low + (best.back() - best.front()) - 1;
      if (highest_ < *root) break;
      found_ = {*low};
      while (extend(number_ / *low, count - 1)) {
        highest_ = found_.back() - 1;
        best = std::exchange(found_, {*low});
      }
    }
    return best;
  }

 private:
  struct Question {
    int rest, count, last;
    auto operator<=>(const Question&) const = default;
  };

  /// Appends `count` factors of `rest` that are neither below the last one nor above highest_; false, and
  /// nothing appended, if there are none. The smallest is as large as it can be, then the next.
  bool extend(int rest, int count) {
    const int last = found_.back();
    if (count == 0) return rest == 1 && last <= highest_;
    if (count == 1) {
      if (rest < last || rest > highest_) return false;
      found_.push_back(rest);
      return true;
    }
    const Question question{rest, count, last};
    if (impossible_.contains(question)) return false;
    const std::int64_t others = power(highest_, count - 1, rest);  // what they can make at most
    const auto least = std::lower_bound(divisors_.begin(), divisors_.end(), last);
    auto next = std::upper_bound(least, divisors_.end(), std::min(rest, highest_));
    while (next != least && *--next * others >= rest) {
      const int factor = *next;
      if (rest % factor != 0 || power(factor, count, rest) > rest) continue;
      found_.push_back(factor);
      if (extend(rest / factor, count - 1)) return true;
      found_.pop_back();
    }
    impossible_.insert(question);
    return false;
  }

  int number_;
  std::vector<int> divisors_;
  int highest_;  ///< that a factor may be; only falls
  std::vector<int> found_;
  std::set<Question> impossible_;
};

}  // namespace

std::vector<int> balanced_factors(int number, int count) {
  constexpr int kMostPrimes = 30;  // a number below 2^31 has no more factors other than 1
  if (count == 0) return {};
  std::vector<int> factors = Search(number).closest(std::min(count, kMostPrimes + 1));
  std::reverse(factors.begin(), factors.end());
  factors.resize(static_cast<std::size_t>(count), 1);
  return factors;
}

}  // namespace starling::mpi::topology

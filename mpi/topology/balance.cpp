// SPDX-License-Identifier: BSD-3-Clause
/// @file  The search behind MPI_Dims_create. docs/design/topology.md
///
/// A number below 2^31 has at most 1536 divisors and 9 different primes. The factors are tried from the
/// smallest that can be the largest of a list; what was found to be impossible is remembered, so no question
/// is asked twice.

#include "mpi/topology/balance.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

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

/// factor ^ count reaches number.
bool reaches(int factor, int count, int number) {
  std::int64_t power = 1;
  for (int i = 0; i < count && power < number; ++i) {
    if (factor == 1) break;
    power *= factor;
  }
  return power >= number;
}

class Search {
 public:
  explicit Search(int number) : divisors_(divisors_of(number)) {}

  /// Appends `count` factors of `rest`, none above `limit`; false, and nothing appended, if there are none.
  bool extend(int rest, int count, int limit) {
    if (count == 1) {
      if (rest > limit) return false;
      found.push_back(rest);
      return true;
    }
    if (!reaches(limit, count, rest) || impossible_.contains({rest, count, limit})) return false;
    for (const int factor : divisors_) {
      if (factor > limit) break;
      if (rest % factor != 0 || !reaches(factor, count, rest)) continue;
      found.push_back(factor);
      if (extend(rest / factor, count - 1, factor)) return true;
      found.pop_back();
    }
    impossible_.insert({rest, count, limit});
    return false;
  }

  std::vector<int> found;

 private:
  std::vector<int> divisors_;
  std::set<std::tuple<int, int, int>> impossible_;
};

}  // namespace

std::vector<int> balanced_factors(int number, int count) {
  constexpr int kMostPrimes = 30;  // a number below 2^31 has no more factors other than 1
  if (count == 0) return {};
  Search search(number);
  search.extend(number, std::min(count, kMostPrimes + 1), number);
  search.found.resize(static_cast<std::size_t>(count), 1);
  return std::move(search.found);
}

}  // namespace starling::mpi::topology

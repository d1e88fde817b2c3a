// SPDX-License-Identifier: BSD-3-Clause
// Edit distance with swaps of neighbours (optimal string alignment), three rows. Layer: params.

#include "params/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace starling::params {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string nearest(std::string_view name, std::span<const std::string_view> names) {
  // A name may be as long as its source likes; what is longer than any declared name is not worth the square.
  constexpr std::size_t kLongest = 256;
  if (name.empty() || name.size() > kLongest) return {};
  std::string_view best;
  std::size_t best_distance = name.size() + kLongest;
  std::string_view extension;
  for (const auto other : names) {
    const std::size_t distance = edit_distance(name, other);
    const std::size_t longer = std::max(name.size(), other.size());
    if (distance < best_distance && distance < longer && distance <= std::max<std::size_t>(1, longer / 3)) {
      best = other;
      best_distance = distance;
    }
    const bool begins =
        name.size() > 3 && other.size() > 3 && (other.starts_with(name) || name.starts_with(other));
    if (begins && extension.empty()) extension = other;
  }
  return std::string(best.empty() ? extension : best);
}

}  // namespace starling::params

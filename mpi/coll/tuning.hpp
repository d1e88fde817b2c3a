// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What parameters say about the choice of algorithms. Layer: mpi. docs/design/collectives.md
///
/// Threads: values, read once.
/// Errors:  bad_parameter names the rule, what is wrong in it, and what was expected.
/// Units:   bytes are those that the tables in select.cpp count.

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::params {
class Registry;
}

namespace starling::mpi::coll {

enum class Collective : std::uint8_t {
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce_scatter
};
inline constexpr std::size_t kCollectives = 8;

/// What the choice may depend on: only what is equal on all processes.
struct Facts {
  int ranks = 1;
  std::uint64_t bytes = 0;
  bool commutative = false;  ///< of the operation, if there is one
};

/// One line of coll_rules: an algorithm for the calls that it fits.
struct Rule {
  Collective collective = Collective::bcast;
  std::uint8_t algorithm = 0;  ///< 1 + index; 0: the table decides
  std::uint64_t least_ranks = 0, most_ranks = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t least_bytes = 0, most_bytes = std::numeric_limits<std::uint64_t>::max();
  enum class Order : std::uint8_t { any, commutative, ordered } order = Order::any;

  [[nodiscard]] bool fits(Collective which, const Facts& facts) const noexcept {
    const auto ranks = static_cast<std::uint64_t>(facts.ranks);
    return which == collective && ranks >= least_ranks && ranks <= most_ranks && facts.bytes >= least_bytes &&
           facts.bytes <= most_bytes &&
           (order == Order::any || (order == Order::commutative) == facts.commutative);
  }
  friend bool operator==(const Rule&, const Rule&) = default;
};

/// `allreduce:ring:ranks=3-64:bytes=64k-:commutative, bcast:chain`: collective, algorithm, conditions.
[[nodiscard]] Result<std::vector<Rule>> parse_rules(std::string_view written);

struct Tuning {
  std::vector<Rule> rules;  ///< the first that fits counts
  /// For each collective: 1 + the index of the algorithm to take if no rule fits; 0: the tables decide.
  std::array<std::uint8_t, kCollectives> forced{};
  /// Reads the parameters, which must have been declared.
  [[nodiscard]] static Result<Tuning> from(const params::Registry& params);
};

}  // namespace starling::mpi::coll

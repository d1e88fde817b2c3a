// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A part of a schedule among some of the members only. Layer: mpi. docs/design/collectives.md
///
/// Threads: used while one schedule is built. Ownership: borrows schedule and ranks.

#include <span>

#include "mpi/coll/schedule.hpp"

namespace starling::mpi::coll {

/// Peers are the members of the own node, or the speakers, while it lives.
class Among {
 public:
  Among(Schedule& schedule, std::span<const int> ranks) noexcept : schedule_(schedule) {
    schedule.among(ranks);
  }
  ~Among() {
    schedule_.next_round();
    schedule_.among({});
  }
  Among(const Among&) = delete;
  Among& operator=(const Among&) = delete;

 private:
  Schedule& schedule_;
};

/// Bytes that are packed already.
[[nodiscard]] inline const Type& packed_type() noexcept {
  static constexpr Type type{nullptr, 1, 1, 0, 1, true, nullptr};
  return type;
}

}  // namespace starling::mpi::coll

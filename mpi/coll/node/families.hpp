// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Families as one member sees them: many members meet in two steps. Layer: mpi.
///
/// Members of one family (family_plan.hpp) read each other. With several families each head (its lowest
/// member) reads its family, and member 0 reads the heads.
/// Threads: a value. Ownership: borrows the board's FamilyPlan.

#include <cstddef>
#include <cstdint>

#include "mpi/coll/node/board.hpp"

namespace starling::mpi::coll::node {

class Families {
 public:
  explicit Families(const Board& board) noexcept : plan_(board.families()), me_(board.me()) {}

  [[nodiscard]] bool flat() const noexcept { return plan_.flat(); }
  [[nodiscard]] bool heads() const noexcept { return head() == me_; }
  /// Of the own family: its lowest member, and behind its last.
  [[nodiscard]] std::uint32_t head() const noexcept { return plan_.head_of(me_); }
  [[nodiscard]] std::uint32_t end() const noexcept { return plan_.end_of(me_); }
  /// Who reads what this member posts on the way up to member `top`.
  [[nodiscard]] std::uint32_t reader(std::uint32_t top = 0) const noexcept { return heads() ? top : head(); }
  /// The heads, from the last to the first; ends at the first false.
  template <class Visit>
  bool each_head(Visit visit) const {
    for (std::size_t at = plan_.heads().size(); at-- > 0;) {
      if (!visit(plan_.heads()[at])) return false;
    }
    return true;
  }
  /// As above, but the own family's.
  template <class Visit>
  bool each_other_head(Visit visit) const {
    return each_head([&](std::uint32_t other) { return other == head() || visit(other); });
  }
  /// The last members of the families before the own, from the nearest to the first; ends at the first false.
  template <class Visit>
  bool each_last_before(Visit visit) const {
    for (std::uint32_t begin = head(); begin != 0; begin = plan_.head_of(begin - 1)) {
      if (!visit(begin - 1)) return false;
    }
    return true;
  }

 private:
  const FamilyPlan& plan_;
  std::uint32_t me_;
};

}  // namespace starling::mpi::coll::node

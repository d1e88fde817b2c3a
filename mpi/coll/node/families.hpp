// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Runs of neighbouring members, each with a head: many members meet in two steps. Layer: mpi.
///
/// Up to kFlat members read each other directly. More of them form families of kFamily: a family's head, its
/// lowest member, reads its family, and member 0 reads the heads. Neighbours, so that rank order survives;
/// under the usual binding they are near each other, too.
/// Threads: a value.

#include <algorithm>
#include <cstdint>

#include "mpi/coll/node/crew.hpp"

namespace starling::mpi::coll::node {

class Families {
 public:
  static constexpr std::uint32_t kFlat = 8, kFamily = 8;
  explicit Families(const Crew& crew) noexcept : me_(crew.me()), size_(crew.size()) {}

  [[nodiscard]] bool flat() const noexcept { return size_ <= kFlat; }
  [[nodiscard]] bool heads() const noexcept { return me_ % kFamily == 0; }
  [[nodiscard]] std::uint32_t head_of(std::uint32_t member) const noexcept {
    return member / kFamily * kFamily;
  }
  /// Behind the last member of the own family.
  [[nodiscard]] std::uint32_t end() const noexcept { return std::min(size_, head_of(me_) + kFamily); }
  /// Who reads what this member posts on the way up.
  [[nodiscard]] std::uint32_t reader() const noexcept { return heads() ? 0 : head_of(me_); }
  /// The heads but the own family's, from the last to the first; ends at the first false.
  template <class Visit>
  bool each_other_head(Visit visit) const {
    for (std::uint32_t head = head_of(size_ - 1);; head -= kFamily) {
      if (head != head_of(me_) && !visit(head)) return false;
      if (head == 0) return true;
    }
  }

 private:
  std::uint32_t me_, size_;
};

}  // namespace starling::mpi::coll::node

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which members of a board form families: runs of neighbours in rank, if possible of one part of the
/// machine. Layer: mpi. docs/design/node-collectives.md
///
/// Threads: a value. All members make the same one from the same facts.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace starling::mpi::coll::node {

/// Where a process is bound: the number of its part of the machine at each level; negative: not in one part.
/// The levels are the same on all processes, the best one first.
using Domains = std::array<std::int32_t, 3>;

class FamilyPlan {
 public:
  /// How many members are in one family at most; where all are in one, they read each other directly.
  static constexpr std::uint32_t kFamily = 8;
  /// Where members share cores each further step is a turn of them all, which costs more than to read many.
  static constexpr std::uint32_t kCrowdedFamily = 64;

  /// By rank alone: families of `family` neighbours.
  explicit FamilyPlan(std::uint32_t size, std::uint32_t family = kFamily);
  /// Families of at most `family` neighbours in rank. They do not cross the borders of the best level of
  /// domains that all members know and that differs among them. Without such a level, or if neighbours are
  /// mostly in different domains, rank alone counts: operands are in rank order.
  explicit FamilyPlan(std::span<const Domains> members, std::uint32_t family = kFamily);

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(head_.size()); }
  /// Whether everybody reads everybody.
  [[nodiscard]] bool flat() const noexcept { return heads_.size() == 1; }
  /// The lowest member of a family, in ascending order.
  [[nodiscard]] const std::vector<std::uint32_t>& heads() const noexcept { return heads_; }
  [[nodiscard]] std::uint32_t head_of(std::uint32_t member) const noexcept { return head_[member]; }
  /// Behind the last member of that member's family.
  [[nodiscard]] std::uint32_t end_of(std::uint32_t member) const noexcept { return end_[member]; }

 private:
  void add(std::uint32_t begin, std::uint32_t end);

  std::vector<std::uint32_t> heads_, head_, end_;
};

}  // namespace starling::mpi::coll::node

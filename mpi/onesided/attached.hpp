// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a process has attached to a dynamic window, for the others of its node. Layer: mpi.
/// docs/design/onesided.md
///
/// Who finds the place of an operation here copies by the kernel; who does not asks the target by a message.
///
/// Threads:   as RangeTable; its owner writes it under the runtime's lock.
/// Ownership: lies in the window's control words. All zero is empty; no page is there before it is used.
/// Units:     bytes, addresses of the owner.

#include <atomic>
#include <cstdint>

#include "core/atomics.hpp"
#include "frameworks/shm/memory/range_table.hpp"

namespace starling::mpi {

struct alignas(64) AttachedTable {
  /// The table's length. Pieces attached when it is full are reached by messages.
  static constexpr std::uint64_t kMost = 63;
  struct Piece {
    std::atomic<std::uint64_t> base, bytes, id, key;
  };
  std::atomic<std::uint64_t> sequence, count, lowest, highest;
  Piece pieces[kMost];
};
static_assert(sizeof(AttachedTable) == 2048);

/// A table in the control words, as RangeTable sees it.
class AttachedWords {
 public:
  static constexpr std::uint64_t kMost = AttachedTable::kMost;
  explicit AttachedWords(AttachedTable& table) noexcept : table_(&table) {}
  [[nodiscard]] std::atomic<std::uint64_t>& sequence() const noexcept { return table_->sequence; }
  [[nodiscard]] std::atomic<std::uint64_t>& count() const noexcept { return table_->count; }
  [[nodiscard]] std::atomic<std::uint64_t>& lowest() const noexcept { return table_->lowest; }
  [[nodiscard]] std::atomic<std::uint64_t>& highest() const noexcept { return table_->highest; }
  [[nodiscard]] AttachedTable::Piece& at(std::uint64_t index) const noexcept { return table_->pieces[index]; }

 private:
  AttachedTable* table_;
};

using AttachedRanges = shm::RangeTable<StdAtomics, AttachedWords>;

}  // namespace starling::mpi

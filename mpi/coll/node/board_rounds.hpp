// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A board on which each process of a group writes in its own place and reads everybody's: what makes
/// it safe. Layer: mpi. docs/design/node-collectives.md
///
/// Collectives are divided into rounds, which all members count alike. In a round some members fill their
/// cell and post it, and some read the cells of others; a member that needs nothing more finishes the round.
/// A cell serves again `cells` rounds later, once everybody has finished the round of its last post. Every
/// word has one writer.
///
/// Threads:   one per member. All members are processes of one node.
/// Ordering:  what was written to a cell before post() is seen by those for whom posted() is true.
/// Errors:    none; who waits for somebody dead must notice that by other means.

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace starling::mpi::coll::node {

/// The most cells that each member may have: how many rounds a writer may be ahead of its slowest reader.
inline constexpr std::uint32_t kMostCells = 64;

/// Words: cells() of each member, a power of two; posted(member, cell) and finished(member) ->
/// Atomic<uint64>&, zero at first. It is copied.
template <class Words>
class BoardRounds {
 public:
  BoardRounds() = default;
  BoardRounds(Words words, std::uint32_t me, std::uint32_t size) noexcept
      : words_(words), me_(me), size_(size) {}

  [[nodiscard]] std::uint32_t me() const noexcept { return me_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Index of the cell that serves in this round, for every member.
  [[nodiscard]] std::uint32_t cell() const noexcept { return cell_of(round_); }
  [[nodiscard]] std::uint32_t next_cell() const noexcept { return cell_of(round_ + 1); }

  void begin() noexcept { ++round_; }
  /// Whether the own cell may be filled: nobody reads what it held before.
  [[nodiscard]] bool writable() noexcept {
    const std::uint64_t last = mine_[cell()];
    if (last <= over_) [[likely]]
      return true;
    std::uint64_t least = round_;
    for (std::uint32_t member = 0; member < size_; ++member) {
      // Acquire: that member's reads are over.
      if (member != me_) least = std::min(least, words_.finished(member).load(std::memory_order_acquire));
    }
    over_ = std::max(over_, least);
    return last <= over_;
  }
  void post() noexcept {
    mine_[cell()] = round_;
    words_.posted(me_, cell()).store(round_, std::memory_order_release);
  }
  /// Whether that member's cell may be read. It may already be beyond this round only if it posted nothing to
  /// be read.
  [[nodiscard]] bool posted(std::uint32_t member) noexcept {
    return words_.posted(member, cell()).load(std::memory_order_acquire) >= round_;
  }
  /// This member has read all that it wanted of this round and of those before.
  void finish() noexcept { words_.finished(me_).store(round_, std::memory_order_release); }
  /// Whether all others have finished this round, or later ones, too.
  [[nodiscard]] bool nobody_behind() const noexcept {
    for (std::uint32_t member = 0; member < size_; ++member) {
      if (member != me_ && words_.finished(member).load(std::memory_order_relaxed) < round_) return false;
    }
    return true;
  }
  /// This member knows that all members have begun this round: it has seen all of them post, or one that had.
  /// Saves writable() the search.
  void all_have_begun() noexcept { over_ = std::max(over_, round_ - 1); }

 private:
  [[nodiscard]] std::uint32_t cell_of(std::uint64_t round) const noexcept {
    return static_cast<std::uint32_t>(round) & (words_.cells() - 1);
  }
  Words words_{};
  std::uint32_t me_ = 0;
  std::uint32_t size_ = 1;
  std::uint64_t round_ = 0;
  std::uint64_t over_ = 0;               // everybody has finished this round
  std::uint64_t mine_[kMostCells] = {};  // the round in which each own cell was posted last
};

}  // namespace starling::mpi::coll::node

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the members of a window share besides its memory: locks, stripes, flags. Layer: mpi.
/// docs/design/onesided.md
///
///     TargetControl[members] | node lock | slots[members + 1][members] | posted[members][members]
///
/// It lies in front of the window's memory, in the same object. All zero is its valid initial state, and no
/// page of it is there before it is used.
///
/// Threads:   see each field.
/// Ownership: a Control is a view; the window owns the memory.
/// Units:     bytes.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/atomics.hpp"
#include "mpi/onesided/post_words.hpp"
#include "mpi/onesided/queue_lock.hpp"

namespace starling::mpi {

/// The two words of a queue lock.
struct alignas(64) LockWords {
  std::atomic<std::uint64_t> word;
  std::atomic<std::uint64_t> numbers;
};

/// Of one member as a target.
struct alignas(64) TargetControl {
  static constexpr std::uint32_t kStripes = 64;
  LockWords lock;
  /// Access epochs of others that have ended here (MPI_Win_complete).
  alignas(64) std::atomic<std::uint64_t> completed;
  /// Makes accumulates atomic to each other: 0, or 1 + the member that works on these bytes.
  alignas(64) std::atomic<std::uint32_t> stripes[kStripes];
};
static_assert(sizeof(TargetControl) == 384);

class Control {
 public:
  Control() = default;
  Control(std::byte* base, std::uint32_t members) noexcept : base_(base), members_(members) {}

  [[nodiscard]] static std::size_t bytes(std::uint32_t members) noexcept {
    const std::size_t n = members;
    return n * sizeof(TargetControl) + sizeof(LockWords) + (2 * n + 1) * n * sizeof(std::uint64_t);
  }

  [[nodiscard]] TargetControl& target(std::uint32_t rank) const noexcept {
    return reinterpret_cast<TargetControl*>(base_)[rank];
  }
  /// Words of PostWords. Flags for one origin lie side by side.
  [[nodiscard]] std::atomic<std::uint64_t>& posted(std::uint32_t origin,
                                                   std::uint32_t target) const noexcept {
    return words()[(std::size_t{members_} + 1 + origin) * members_ + target];
  }
  [[nodiscard]] std::atomic<std::uint64_t>& completed(std::uint32_t rank) const noexcept {
    return target(rank).completed;
  }

  /// One lock, as QueueLock sees it.
  class Words {
   public:
    Words(LockWords& lock, std::atomic<std::uint64_t>* slots, std::uint32_t members) noexcept
        : lock_(&lock), slots_(slots), members_(members) {}
    [[nodiscard]] std::atomic<std::uint64_t>& word() const noexcept { return lock_->word; }
    [[nodiscard]] std::atomic<std::uint64_t>& numbers() const noexcept { return lock_->numbers; }
    [[nodiscard]] std::atomic<std::uint64_t>& slot(std::uint32_t member) const noexcept {
      return slots_[member];
    }
    [[nodiscard]] std::uint32_t size() const noexcept { return members_; }

   private:
    LockWords* lock_;
    std::atomic<std::uint64_t>* slots_;
    std::uint32_t members_;
  };
  using Lock = QueueLock<StdAtomics, Words>;

  /// The lock of a target's memory: its other side is MPI_LOCK_EXCLUSIVE.
  [[nodiscard]] Lock target_lock(std::uint32_t rank, std::uint32_t me) const noexcept {
    return Lock(Words(target(rank).lock, words() + std::size_t{rank} * members_, members_), me, true);
  }
  /// Keeps MPI_Win_lock_all (shared) and holders of exclusive locks, of whatever targets (the other side),
  /// apart.
  [[nodiscard]] Lock node_lock(std::uint32_t me) const noexcept {
    return Lock(Words(node_words(), words() + std::size_t{members_} * members_, members_), me, false);
  }

 private:
  [[nodiscard]] LockWords& node_words() const noexcept {
    return *reinterpret_cast<LockWords*>(base_ + members_ * sizeof(TargetControl));
  }
  [[nodiscard]] std::atomic<std::uint64_t>* words() const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + members_ * sizeof(TargetControl) +
                                                         sizeof(LockWords));
  }

  std::byte* base_ = nullptr;
  std::uint32_t members_ = 0;
};

}  // namespace starling::mpi

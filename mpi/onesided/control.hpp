// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the members of a window share besides its memory: locks, stripes, flags. Layer: mpi.
/// docs/design/onesided.md
///
///     TargetControl[members] | node lock | target slots[members][members + 1] | node slots[2 * members] |
///     posted[members][members] | attached[members] | active messages[members] | overlap logs[members] |
///     active message rooms[members]
///
/// The last four are there only where they are used: in dynamic windows, in those whose memory local peers
/// copy by the kernel, and with onesided_check.
///
/// Members are those of one domain (window.hpp), by seat. A member also takes locks for processes of other
/// domains, whose messages it serves: as such it is an agent, with slots of its own.
///
/// It lies in front of the window's memory, in the same object. All zero is its valid initial state, and no
/// page of it is there before it is used.
///
/// Threads:   see each field.
/// Ownership: a Control is a view; the window owns the memory.
/// Units:     bytes.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/atomics.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/onesided/active_message_words.hpp"
#include "mpi/onesided/attached.hpp"
#include "mpi/onesided/overlaps.hpp"
#include "mpi/onesided/post_words.hpp"
#include "mpi/onesided/queue_lock.hpp"
#include "mpi/op/op.hpp"

namespace starling::mpi {

/// Between two looks of a member that waits for others whether they have died.
inline constexpr std::uint64_t kLifeLookNs = 50'000'000;

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

/// Runs of elements at equal distances, of an active message that has gaps: what stands in front of its
/// elements.
struct ActiveMessageRuns {
  std::uint64_t offset;  ///< of the first one, in the target's part
  std::int64_t stride;   ///< bytes from one to the next
  std::uint64_t count;   ///< elements of each
  std::uint64_t runs;
};

/// What one origin asks a target for (active_messages.hpp), of few bytes all in one cache line.
struct alignas(64) ActiveMessage {
  enum class What : std::uint8_t { put, get, accumulate, fetch, swap };
  static constexpr std::size_t kHere = 40, kMost = 4096;
  std::atomic<std::uint32_t> word;  ///< ActiveMessageWord's
  What what;
  OpCode code;
  Basic element;
  std::uint64_t offset;   ///< in the target's part
  std::uint32_t bytes;    ///< of the elements there, and of the series in front of them
  std::uint32_t series;   ///< of an accumulate or a fetch with gaps, so many ActiveMessageRuns; 0: in a row
  std::byte data[kHere];  ///< goes there, or has come back; more than that: in the target's room
};
static_assert(sizeof(ActiveMessage) == 64);

class Control {
 public:
  /// What some windows have more than others.
  struct More {
    bool attached = false;
    bool active_messages = false;
    bool logs = false;
  };
  Control() = default;
  Control(std::byte* base, std::uint32_t members, More more) noexcept
      : base_(base), members_(members), more_(more) {}

  [[nodiscard]] static std::size_t bytes(std::uint32_t members, More more) noexcept {
    return rooms_at(members, more) + (more.active_messages ? members * room_bytes(members) : 0);
  }
  /// Of these, those that have to be zero in the beginning.
  [[nodiscard]] static std::size_t cleared_bytes(std::uint32_t members, More more) noexcept {
    return rooms_at(members, more);
  }
  [[nodiscard]] std::uint32_t members() const noexcept { return members_; }

  [[nodiscard]] TargetControl& target(std::uint32_t rank) const noexcept {
    return reinterpret_cast<TargetControl*>(base_)[rank];
  }
  /// Words of PostWords, by seat. Flags for one origin lie side by side.
  [[nodiscard]] std::atomic<std::uint64_t>& posted(std::uint32_t origin,
                                                   std::uint32_t target) const noexcept {
    return node_slots()[(std::size_t{2} + origin) * members_ + target];
  }
  [[nodiscard]] std::atomic<std::uint64_t>& completed(std::uint32_t rank) const noexcept {
    return target(rank).completed;
  }

  [[nodiscard]] OverlapLog& overlaps(std::uint32_t seat) const noexcept {
    return reinterpret_cast<OverlapLog*>(base_ + logs_at(members_, more_))[seat];
  }

  /// Of a window with active messages.
  [[nodiscard]] ActiveMessage& active_message(std::uint32_t seat) const noexcept {
    return reinterpret_cast<ActiveMessage*>(base_ + active_messages_at(members_, more_))[seat];
  }

  /// How much an active message can move: the control words of a large domain have to stay small.
  [[nodiscard]] std::size_t most_of_active_message() const noexcept {
    return std::max(ActiveMessage::kHere, room_bytes(members_));
  }
  /// Where an active message of this target has its `bytes`.
  [[nodiscard]] std::byte* data_of(ActiveMessage& active_message, std::uint32_t seat,
                                   std::size_t bytes) const noexcept {
    return bytes <= ActiveMessage::kHere ? active_message.data
                                         : base_ + rooms_at(members_, more_) + seat * room_bytes(members_);
  }

  /// Of a dynamic window.
  [[nodiscard]] AttachedRanges attached(std::uint32_t seat) const noexcept {
    return AttachedRanges(
        AttachedWords(reinterpret_cast<AttachedTable*>(base_ + attached_at(members_))[seat]));
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

  /// The lock of a target's memory: its other side is MPI_LOCK_EXCLUSIVE. `me`: a seat, or target_agent().
  /// `stamp`: another one for each holding.
  [[nodiscard]] Lock target_lock(std::uint32_t seat, std::uint32_t me, std::uint64_t stamp) const noexcept {
    const std::uint32_t slots = members_ + 1;
    return Lock(Words(target(seat).lock, words() + std::size_t{seat} * slots, slots), me, true, stamp);
  }
  /// Keeps MPI_Win_lock_all (shared) and holders of exclusive locks, of whatever targets (the other side),
  /// apart. `me`: a seat, or node_agent().
  [[nodiscard]] Lock node_lock(std::uint32_t me, std::uint64_t stamp) const noexcept {
    return Lock(Words(node_words(), node_slots(), 2 * members_), me, false, stamp);
  }
  /// As whom a member takes its own target's lock for others, and the node's lock.
  [[nodiscard]] std::uint32_t target_agent() const noexcept { return members_; }
  [[nodiscard]] std::uint32_t node_agent(std::uint32_t seat) const noexcept { return members_ + seat; }
  /// The seat of who stands behind a slot of the lock of this target, or (kNode) of the node's lock.
  static constexpr std::uint32_t kNode = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t seat_of(std::uint32_t slot, std::uint32_t target) const noexcept {
    if (slot < members_) return slot;
    return target == kNode ? slot - members_ : target;
  }

 private:
  [[nodiscard]] static std::size_t attached_at(std::uint32_t members) noexcept {
    const std::size_t n = members;
    const std::size_t end =
        n * sizeof(TargetControl) + sizeof(LockWords) + (n * (n + 1) + 2 * n + n * n) * sizeof(std::uint64_t);
    constexpr std::size_t kAlign =
        std::max({alignof(OverlapLog), alignof(AttachedTable), alignof(ActiveMessage)});
    return (end + kAlign - 1) / kAlign * kAlign;
  }
  [[nodiscard]] static std::size_t active_messages_at(std::uint32_t members, More more) noexcept {
    return attached_at(members) + (more.attached ? members * sizeof(AttachedTable) : 0);
  }
  [[nodiscard]] static std::size_t logs_at(std::uint32_t members, More more) noexcept {
    return active_messages_at(members, more) + (more.active_messages ? members * sizeof(ActiveMessage) : 0);
  }
  [[nodiscard]] static std::size_t rooms_at(std::uint32_t members, More more) noexcept {
    return logs_at(members, more) + (more.logs ? members * sizeof(OverlapLog) : 0);
  }
  [[nodiscard]] static constexpr std::size_t room_bytes(std::uint32_t members) noexcept {
    return members <= 8 ? ActiveMessage::kMost : members <= 32 ? 1024 : 0;
  }
  [[nodiscard]] LockWords& node_words() const noexcept {
    return *reinterpret_cast<LockWords*>(base_ + members_ * sizeof(TargetControl));
  }
  [[nodiscard]] std::atomic<std::uint64_t>* words() const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + members_ * sizeof(TargetControl) +
                                                         sizeof(LockWords));
  }
  [[nodiscard]] std::atomic<std::uint64_t>* node_slots() const noexcept {
    return words() + (std::size_t{members_} + 1) * members_;
  }

  std::byte* base_ = nullptr;
  std::uint32_t members_ = 0;
  More more_;
};

}  // namespace starling::mpi

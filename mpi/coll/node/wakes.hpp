// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Who wakes whom among the members of a board that sleep. Layer: mpi. docs/design/node-collectives.md
///
/// In a round everybody posts and finishes. To wake all who sleep for each of that would cost a change of
/// processes for each pair of members. So a member sleeps until one other has posted, and is woken by that
/// one; or, if it wants to fill a cell again, until all have finished a round, and is woken by the last.
///
/// Threads:   one per member.
/// Ordering:  none is promised; who is woken looks at the board.

#include <atomic>
#include <cstdint>

namespace starling::mpi::coll::node {

/// Bells, of the members: awaits(member, what), to be asked after something was published: whether it sleeps
/// and awaits that (frameworks/shm/doorbell.hpp); wake(member); place(member), a number of its process, below
/// 2^24 - 3; Atomics.
template <class Bells>
class Wakes {
 public:
  Wakes(Bells bells, std::uint32_t me, std::uint32_t size) noexcept : bells_(bells), me_(me), size_(size) {}

  /// What this member awaits while it sleeps: that `member` posts; its own number: that all finish a round.
  [[nodiscard]] std::uint32_t awaited(std::uint32_t member) const noexcept {
    return member == me_ ? kFinish : kPost + bells_.place(member);
  }
  /// Wakes those who sleep until this member has posted.
  void posted() noexcept {
    each_other([&](std::uint32_t member) { posted(member); });
  }
  /// Wakes `reader`, if it sleeps until this member has posted.
  void posted(std::uint32_t reader) noexcept {
    if (bells_.awaits(reader, kPost + bells_.place(me_))) [[unlikely]]
      bells_.wake(reader);
  }
  /// Call after finishing a round. True: a member sleeps until all have finished; then a full fence has
  /// passed, so of two members that finish at once one sees the other.
  [[nodiscard]] bool finish_awaited() noexcept {
    bool awaited = false;
    each_other([&](std::uint32_t member) { awaited |= bells_.awaits(member, kFinish); });
    return awaited && fenced();
  }
  /// As above, where only `writer` can sleep.
  [[nodiscard]] bool finish_awaited(std::uint32_t writer) noexcept {
    return bells_.awaits(writer, kFinish) && fenced();
  }
  /// Wakes those; for the last member to finish.
  void finished() noexcept {
    each_other([&](std::uint32_t member) {
      if (bells_.awaits(member, kFinish)) bells_.wake(member);
    });
  }

 private:
  static constexpr std::uint32_t kFinish = 1, kPost = 2;

  template <class Visit>
  void each_other(Visit visit) noexcept {
    for (std::uint32_t member = 0; member < size_; ++member) {
      if (member != me_) visit(member);
    }
  }
  // For processes for which a sleeper fences (doorbell.hpp): there awaits() has no fence of its own.
  [[gnu::cold]] static bool fenced() noexcept {
    Bells::Atomics::fence(std::memory_order_seq_cst);
    return true;
  }

  Bells bells_;
  std::uint32_t me_;
  std::uint32_t size_;
};

}  // namespace starling::mpi::coll::node

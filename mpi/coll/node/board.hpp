// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A board as one of its members uses it: memory, waiting, waking. Layer: mpi.
/// docs/design/node-collectives.md
///
/// A call begins with agree(). A round is: begin(); cell(), filled, and post(), for those that give
/// something; read() for each member that is needed; finish(). Members that disagree about the call are
/// noticed by those who read them: equal() is false from then on.
///
/// Threads:   one at a time; the runtime's lock is released while waiting.
/// Ownership: the memory belongs to the caller and outlives this object.
/// Errors:    cell() and read() return null once a member has died; the collective then ends at once.
/// Units:     bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/atomics.hpp"
#include "core/pause.hpp"
#include "mpi/coll/node/board_rounds.hpp"
#include "mpi/coll/node/call_signature.hpp"
#include "mpi/coll/node/family_plan.hpp"

namespace starling::mpi::coll::node {

/// Where the words and cells of a board are. All-zero bytes are an empty board.
///
///     finished[size], 128 bytes apart | cells[size][cells], `stride` bytes apart
///
/// A cell's first 16 bytes hold its word and its signature; a few bytes of data travel in the same cache
/// line.
class BoardMemory {
 public:
  static constexpr std::size_t kWordBytes = 16, kApart = 128;
  struct Shape {
    std::uint32_t cells = 1;          ///< of each member; a power of two up to kMostCells
    std::size_t stride = kWordBytes;  ///< of a cell, a multiple of 128 if it is to hold anything
    [[nodiscard]] constexpr std::size_t capacity() const noexcept { return stride - kWordBytes; }
  };
  BoardMemory() = default;
  BoardMemory(std::byte* base, std::uint32_t size, Shape shape) noexcept
      : base_(base), first_(base + size * kApart), shape_(shape) {}
  [[nodiscard]] static std::size_t bytes(std::uint32_t size, Shape shape) noexcept {
    return size * (kApart + shape.cells * shape.stride);
  }
  [[nodiscard]] std::uint32_t cells() const noexcept { return shape_.cells; }
  using Word = StdAtomics::Atomic<std::uint64_t>;
  [[nodiscard]] Word& posted(std::uint32_t member, std::uint32_t cell) const noexcept {
    return *reinterpret_cast<Word*>(at(member, cell));
  }
  [[nodiscard]] Word& finished(std::uint32_t member) const noexcept {
    return *reinterpret_cast<Word*>(base_ + member * kApart);
  }
  /// What stands beside the data and is ordered with them by posted().
  [[nodiscard]] CallSignature& signature(std::uint32_t member, std::uint32_t cell) const noexcept {
    return *reinterpret_cast<CallSignature*>(at(member, cell) + sizeof(Word));
  }
  [[nodiscard]] std::byte* data(std::uint32_t member, std::uint32_t cell) const noexcept {
    return at(member, cell) + kWordBytes;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return shape_.capacity(); }

 private:
  [[nodiscard]] std::byte* at(std::uint32_t member, std::uint32_t cell) const noexcept {
    return first_ + (std::size_t{member} * shape_.cells + cell) * shape_.stride;
  }
  std::byte* base_ = nullptr;
  std::byte* first_ = nullptr;
  Shape shape_;
};

/// How a member waits and wakes; implemented above the runtime (mpi/launch/node_team.cpp). Who wakes whom:
/// wakes.hpp.
class Patience {
 public:
  using Ready = bool (*)(void* context);
  /// Progresses and sleeps until ready(context); false: a member has died. Waits until `member` has posted;
  /// its own number means: until all have finished a round.
  [[nodiscard]] virtual bool wait(Ready ready, void* context, std::uint32_t member) = 0;
  virtual void posted() noexcept = 0;
  virtual void posted(std::uint32_t reader) noexcept = 0;
  [[nodiscard]] virtual bool finish_awaited() noexcept = 0;
  [[nodiscard]] virtual bool finish_awaited(std::uint32_t writer) noexcept = 0;
  virtual void finished() noexcept = 0;

 protected:
  ~Patience() = default;
};

class Board {
 public:
  /// `polls`: looks before the patience takes over; few where processes share cores.
  Board(BoardMemory memory, std::uint32_t me, FamilyPlan families, Patience& patience, std::uint32_t polls)
      : memory_(memory),
        rounds_(memory, me, families.size()),
        families_(std::move(families)),
        patience_(patience),
        polls_(polls) {}

  [[nodiscard]] std::uint32_t me() const noexcept { return rounds_.me(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return rounds_.size(); }
  [[nodiscard]] const FamilyPlan& families() const noexcept { return families_; }
  /// Bytes of a cell.
  [[nodiscard]] std::size_t capacity() const noexcept { return memory_.capacity(); }
  /// How much of a long buffer goes into a cell where one member reads those of all. Its round stays short
  /// then: where processes share cores, a long one looks like computing (docs/design/waiting.md).
  [[nodiscard]] std::size_t piece() const noexcept {
    return std::min(capacity(), kRoundBytes / size() & ~std::size_t{63});
  }

  /// What this member's call is about, and what it expects of the others'.
  void agree(CallSignature ours, CallSignature theirs) noexcept {
    ours_ = ours;
    theirs_ = theirs;
    if (!equal()) [[unlikely]]
      difference_ = {};
  }
  void agree(CallSignature all) noexcept { agree(all, all); }
  /// Replaces what is expected of the member that is read next.
  void expect(CallSignature theirs) noexcept { theirs_ = theirs; }
  /// Whether nobody that was read in this call disagrees.
  [[nodiscard]] bool equal() const noexcept { return difference_.member < 0; }
  [[nodiscard]] const Difference& difference() const noexcept { return difference_; }
  /// Notes a disagreement; what this member posts from now on says that there is one.
  [[gnu::cold]] void differ(std::uint32_t member, CallSignature theirs, CallSignature ours) noexcept;
  /// Of a member that has been read in this round: what it gives, of `bytes` that are expected.
  [[nodiscard]] std::uint64_t given(std::uint32_t member, std::uint64_t bytes) const noexcept {
    if (equal()) [[likely]]
      return bytes;
    const std::uint64_t theirs = memory_.signature(member, rounds_.cell()).bytes();
    return theirs < bytes ? theirs : bytes;
  }

  void begin() noexcept {
    rounds_.begin();
    filling_ = false;
  }
  /// The own cell, for writing; waits until all have read what it held. Aligned to 16.
  [[nodiscard]] std::byte* cell() noexcept {
    if (!until([](BoardRounds<BoardMemory>& rounds, std::uint32_t) { return rounds.writable(); }, me()))
      return nullptr;
    filling_ = true;
    return memory_.data(me(), rounds_.cell());
  }
  /// Shows the own cell to all members, or (`reader`) to one that alone waits for it.
  void post() noexcept {
    show();
    patience_.posted();
  }
  void post(std::uint32_t reader) noexcept {
    show();
    if (reader != me()) patience_.posted(reader);
  }
  /// A member's cell, once it has posted.
  [[nodiscard]] const std::byte* read(std::uint32_t member) noexcept {
    if (!meet(member)) return nullptr;
    const CallSignature theirs = memory_.signature(member, rounds_.cell());
    if (theirs != theirs_) [[unlikely]]
      differ(member, theirs, theirs_);
    return memory_.data(member, rounds_.cell());
  }
  /// As read(), for a member that posts without cell(): there is nothing to read.
  [[nodiscard]] bool meet(std::uint32_t member) noexcept {
    return until([](BoardRounds<BoardMemory>& rounds, std::uint32_t who) { return rounds.posted(who); },
                 member);
  }
  /// From here on the patience takes over after so few looks: it makes progress, which others need.
  void look_at_most(std::uint32_t polls) noexcept { polls_ = std::min(polls_, polls); }
  /// The end of a round.
  void finish() noexcept {
    rounds_.finish();
    if (patience_.finish_awaited()) [[unlikely]]
      wake_writers();
  }
  /// Ends a round in which one member alone has posted.
  void finish(std::uint32_t writer) noexcept {
    rounds_.finish();
    if (writer != me() && patience_.finish_awaited(writer)) [[unlikely]]
      wake_writers();
  }
  void all_have_begun() noexcept { rounds_.all_have_begun(); }

 private:
  /// The signature is written with the word, and after the data: all three are in a line that others poll.
  /// Who posts without having asked for the cell may not touch them.
  void show() noexcept {
    if (filling_) memory_.signature(me(), rounds_.cell()) = ours_;
    filling_ = false;
    rounds_.post();
    fetch_next();
  }
  /// The readers of an earlier round still share the line of the next cell; taking it back goes on beside the
  /// wait for the others.
  void fetch_next() noexcept { __builtin_prefetch(&memory_.posted(me(), rounds_.next_cell()), 1); }

  static constexpr std::size_t kRoundBytes = std::size_t{512} << 10;

  using Question = bool (*)(BoardRounds<BoardMemory>& rounds, std::uint32_t member);
  struct Asked {
    BoardRounds<BoardMemory>* rounds;
    Question question;
    std::uint32_t member;
  };
  template <class Look>
  [[nodiscard]] bool until(Look look, std::uint32_t member) noexcept {
    for (std::uint32_t poll = 0; poll < polls_; ++poll) {
      if (look(rounds_, member)) [[likely]]
        return true;
      pause_cpu();
    }
    return wait(look, member);
  }
  [[nodiscard]] bool wait(Question question, std::uint32_t member) noexcept;
  [[gnu::cold]] void wake_writers() noexcept;

  BoardMemory memory_;
  BoardRounds<BoardMemory> rounds_;
  FamilyPlan families_;
  Patience& patience_;
  std::uint32_t polls_;
  bool filling_ = false;  // cell() was asked for in this round
  CallSignature ours_, theirs_;
  Difference difference_;
};

}  // namespace starling::mpi::coll::node

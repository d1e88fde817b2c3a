// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The table of a node's shared copies in its segment: slots, which process works on what, which is
/// idle. Layer: framework. See docs/design/dynamic.md.
///
///     BoardHeader | BoardProcess[local_size] | BoardSlot[local_size * kSlotsEach]
///
/// Zero bytes are no valid board: whoever makes it writes it, and then stores its offset in the segment's
/// header with release order.
///
/// Threads:   a slot as Claim says. A process writes its own words; others may clear `offered` after its
///            death. Everybody reads all of them.
/// Errors:    no_space: the arena is full, or there are more processes than names for their slots.
/// Units:     bytes; offsets from the segment's start.

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/atomics.hpp"
#include "frameworks/shm/claims/claim.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {

/// The most copies into the memory of one process that are open at once.
inline constexpr std::uint32_t kSlotsEach = 8;
inline constexpr std::uint32_t kBitWords = 64;  ///< 4096 processes

struct BoardHeader {
  alignas(64) std::atomic<std::uint64_t> idle[kBitWords];     ///< by local rank: waits in MPI, and may help
  alignas(64) std::atomic<std::uint64_t> offered[kBitWords];  ///< by local rank: has copies for others
};
static_assert(sizeof(BoardHeader) == 1024);

struct BoardProcess {
  alignas(64) std::atomic<std::uint64_t> work;  ///< what it is at (work_name)
  std::atomic<std::uint64_t> domain;            ///< Domain, packed; 0: it has not told
  std::atomic<std::uint64_t> idle_ns;           ///< when it last waited: its bit in `idle` may be out of date
};
static_assert(sizeof(BoardProcess) == 64);

struct BoardSlot {
  static constexpr std::uint32_t kDoneWords = kChunksMost / 64;
  alignas(64) std::atomic<std::uint64_t> word;
  std::atomic<std::uint64_t> fields[6];
  std::atomic<std::uint64_t> helpers;  ///< who took part: one bit each, by local rank modulo 64
  std::atomic<std::uint64_t> done[kDoneWords];
};
static_assert(sizeof(BoardSlot) == 64 + 512);

/// A slot in memory, as Claim sees it.
class MappedSlot {
 public:
  static constexpr std::uint32_t kDoneWords = BoardSlot::kDoneWords;
  explicit MappedSlot(BoardSlot& slot) noexcept : slot_(&slot) {}
  [[nodiscard]] std::atomic<std::uint64_t>& word() const noexcept { return slot_->word; }
  [[nodiscard]] std::atomic<std::uint64_t>& field(unsigned i) const noexcept { return slot_->fields[i]; }
  [[nodiscard]] std::atomic<std::uint64_t>& done(std::uint32_t i) const noexcept { return slot_->done[i]; }

 private:
  BoardSlot* slot_;
};
using MappedClaim = Claim<StdAtomics, MappedSlot>;

/// The cache and the memory that a process is bound to; -1 if it may run in several, or if that is not known.
struct Domain {
  std::int32_t cache = -1;
  std::int32_t memory = -1;
};
[[nodiscard]] constexpr std::uint64_t packed(Domain domain) noexcept {
  return std::uint64_t{1} << 63 | std::uint64_t(std::uint32_t(domain.cache + 1) & 0x3fffffff) << 32 |
         std::uint32_t(domain.memory + 1);
}
[[nodiscard]] constexpr Domain domain_of(std::uint64_t word) noexcept {
  return {std::int32_t(word >> 32 & 0x3fffffff) - 1, std::int32_t(std::uint32_t(word)) - 1};
}
/// How far two processes are from each other: the nearest that they share.
enum class Distance : std::uint8_t { cache, memory, node, unknown };
[[nodiscard]] constexpr Distance distance_of(std::uint64_t one, std::uint64_t other) noexcept {
  if (one == 0 || other == 0) return Distance::unknown;
  const Domain a = domain_of(one), b = domain_of(other);
  if (a.cache >= 0 && a.cache == b.cache) return Distance::cache;
  if (a.memory >= 0 && a.memory == b.memory) return Distance::memory;
  return a.memory < 0 || b.memory < 0 ? Distance::unknown : Distance::node;
}

/// The node's board, if there is one.
class Board {
 public:
  [[nodiscard]] static std::optional<Board> find(NodeSegment& segment) noexcept;
  /// As find(), and makes it where there is none.
  [[nodiscard]] static Result<Board> make(NodeSegment& segment);

  [[nodiscard]] BoardHeader& header() const noexcept { return *reinterpret_cast<BoardHeader*>(base_); }
  [[nodiscard]] BoardProcess& process(std::uint32_t local_rank) const noexcept {
    return reinterpret_cast<BoardProcess*>(base_ + sizeof(BoardHeader))[local_rank];
  }
  /// By its number among all slots of the node.
  [[nodiscard]] BoardSlot& slot(std::uint32_t number) const noexcept {
    return reinterpret_cast<BoardSlot*>(base_ + sizeof(BoardHeader) + size_ * sizeof(BoardProcess))[number];
  }
  [[nodiscard]] MappedClaim claim(std::uint32_t number) const noexcept {
    return {MappedSlot(slot(number)), number};
  }
  [[nodiscard]] std::uint32_t slots() const noexcept { return size_ * kSlotsEach; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  Board(std::byte* base, std::uint32_t size) noexcept : base_(base), size_(size) {}
  std::byte* base_;
  std::uint32_t size_;
};

}  // namespace starling::shm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A ring of records from one process to another: what makes it safe. Layer: plugin.
///
/// A ring of 64-byte cells; a record is a run of consecutive cells and begins with a header word that is not
/// zero. The producer fills a record and then stores its header with release order; the consumer polls one
/// word, that of the cell behind the last record, which is zero until then. A message of up to 56 bytes is
/// therefore one cache line.
///
/// The consumer sets the first words of a record's cells back to zero before it gives them back. That also
/// moves their lines into its own cache, from where the producer fetches several at once; lines that the
/// producer still owned would be taken back one by one (3 to 8 times slower where it was measured). Other
/// processors take them back as fast, and there the cleaning costs as much as the copy: so a reader may leave
/// the cells of long records as they are (cleaning.hpp), always or while it is busy. They are stale on the
/// next lap, as all cells of a new ring are on the first one: there the producer clears the cell behind each
/// record itself.
///
/// A record never wraps: where it would, a pad record fills the rest of the ring. See docs/design/lanes.md.
///
/// Threads:   one writer, one reader. The reader publishes how many cells it has consumed, now and then. A
///            writer that finds the ring full may raise `wanted` and sleep (frameworks/shm/doorbell.hpp); the
///            reader looks at it whenever it has given cells back.
/// Ordering:  records are read in the order they were committed.
/// Units:     cells; positions are indices into the ring, counts are free-running.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace starling::btl {

inline constexpr std::uint32_t kCellBytes = 64;
inline constexpr std::uint32_t kNoCell = ~std::uint32_t{0};

/// What a record is; part of its header word, never zero.
enum class RecordKind : std::uint8_t { data = 1, pad = 2, moved = 3, closed = 4 };

/// When a reader cleans the cells of long records, too; those of short ones it always does.
enum class CleanLong : std::uint8_t {
  when_idle,  ///< if it gives back because nothing more has come, not in the middle of a stream
  never,
  always
};

/// {kind, payload bytes} in one word.
[[nodiscard]] constexpr std::uint64_t record_header(RecordKind kind, std::uint32_t bytes) noexcept {
  return (std::uint64_t{static_cast<std::uint8_t>(kind)} << 32) | bytes;
}
[[nodiscard]] constexpr RecordKind kind_of(std::uint64_t header) noexcept {
  return static_cast<RecordKind>(static_cast<std::uint8_t>(header >> 32));
}
[[nodiscard]] constexpr std::uint32_t bytes_of(std::uint64_t header) noexcept {
  return static_cast<std::uint32_t>(header);
}
/// Cells of a record with `bytes` of payload behind its header word.
[[nodiscard]] constexpr std::uint32_t cells_for(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + 8 + kCellBytes - 1) / kCellBytes);
}

/// Ring: kLongCells (the least cells of a long record or pad), cells(), head(i) -> Atomic<uint64>& (the first
/// word of cell i), consumed() -> Atomic<uint64>&, wanted() -> Atomic<uint32>&. It is copied.
template <class Atomics, class Ring>
class LaneWriter {
 public:
  LaneWriter() = default;
  explicit LaneWriter(Ring ring) noexcept : ring_(ring) {}

  /// Makes an unused extent an empty lane. The reader may look once it has heard of the lane with acquire
  /// order. What the cells hold does not matter: on the first lap they count as stale.
  void create() noexcept {
    ring_.head(0).store(0, std::memory_order_relaxed);
    ring_.consumed().store(0, std::memory_order_relaxed);
    ring_.wanted().store(0, std::memory_order_relaxed);
    at_ = pad_ = 0;
    written_ = consumed_ = 0;
    stale_until_ = ring_.cells();
  }

  /// Room for a record of up to `cells`: the index of its first cell, to be filled; or kNoCell: the ring is
  /// full.
  [[nodiscard]] std::uint32_t reserve(std::uint32_t cells) noexcept {
    const std::uint32_t total = ring_.cells();
    pad_ = cells > total - at_ ? total - at_ : 0;
    // The cell behind the record must be free as well: it is where the reader looks next, and last_cell().
    const std::uint64_t end = written_ + pad_ + cells + 1;
    if (end - consumed_ > total) [[unlikely]] {
      // Acquire: the reader has cleared the cells that are about to be written again.
      consumed_ = ring_.consumed().load(std::memory_order_acquire);
      if (end - consumed_ > total) return kNoCell;
    }
    return pad_ == 0 ? at_ : 0;
  }

  /// Publishes the reserved record, now of `cells` cells (at most what was reserved).
  void commit(std::uint32_t cells, std::uint64_t header) noexcept {
    std::uint32_t next = (pad_ == 0 ? at_ : 0) + cells;
    if (next >= ring_.cells()) next = 0;
    const std::uint64_t end = written_ + pad_ + cells;
    if (end < stale_until_) [[unlikely]]
      ring_.head(next).store(0, std::memory_order_relaxed);
    if (std::max(cells, pad_) >= Ring::kLongCells) [[unlikely]]
      stale_until_ = end + ring_.cells();
    if (pad_ != 0) [[unlikely]] {
      ring_.head(0).store(header, std::memory_order_relaxed);
      header = record_header(RecordKind::pad, 0);
    }
    // Release: the payload, the end behind it and, behind a pad, the record's own header.
    ring_.head(at_).store(header, std::memory_order_release);
    written_ = end;
    at_ = next;
  }

  /// Asks the reader to ring when it gives cells back. The caller announces its sleep behind this, and then
  /// tries to reserve once more before it sleeps.
  void want_room() noexcept { ring_.wanted().store(1, std::memory_order_relaxed); }
  /// Cells ever committed: stands still while the lane is not used.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

  /// How many cells from last_cell() on are known to be free and lie before the ring's end, up to `most`.
  [[nodiscard]] std::uint32_t known_free(std::uint32_t most) const noexcept {
    const std::uint64_t free = ring_.cells() - (written_ - consumed_);
    const std::uint64_t in_line = ring_.cells() - at_;
    return static_cast<std::uint32_t>(std::min({std::uint64_t{most}, free, in_line}));
  }
  /// The cell for a last record, which always has room.
  [[nodiscard]] std::uint32_t last_cell() const noexcept { return at_; }
  /// Publishes the record in last_cell(); nothing may follow.
  void finish(std::uint64_t header) noexcept { ring_.head(at_).store(header, std::memory_order_release); }

  [[nodiscard]] const Ring& ring() const noexcept { return ring_; }

 private:
  Ring ring_{};
  std::uint32_t at_ = 0;           // where the next record goes
  std::uint32_t pad_ = 0;          // cells that the reserved record skips at the end of the ring
  std::uint64_t written_ = 0;      // cells ever committed
  std::uint64_t consumed_ = 0;     // the reader's count when last looked at
  std::uint64_t stale_until_ = 0;  // up to this count a cell may hold anything, not zero
};

template <class Atomics, class Ring>
class LaneReader {
 public:
  LaneReader() = default;
  explicit LaneReader(Ring ring) noexcept : ring_(ring), quarter_(ring.cells() / 4) {}

  /// The header of the next record, or 0. Its payload may be read until pop().
  [[nodiscard]] std::uint64_t peek() noexcept {
    std::uint64_t header = ring_.head(at_).load(std::memory_order_acquire);
    if (header == 0) return 0;
    if (kind_of(header) == RecordKind::pad) [[unlikely]] {
      pass(ring_.cells() - at_);
      header = ring_.head(0).load(std::memory_order_relaxed);  // published together with the pad
    }
    return header;
  }
  /// The record's first cell.
  [[nodiscard]] std::uint32_t cell() const noexcept { return at_; }

  /// Done with the record of `cells` cells.
  void pop(std::uint32_t cells) noexcept {
    pass(cells);
    // Rarely, since the writer's copy of the line has to be fetched again each time.
    if (consumed_ - told_ >= quarter_) give_back(clean_long_ == CleanLong::always);
  }
  /// Gives back what has been read. For when there is nothing else to do: an answer to the message would wait
  /// behind the cleaning until the cells' lines have come back.
  void tidy() noexcept {
    if (consumed_ != told_) give_back(clean_long_ != CleanLong::never);
  }
  void clean_long(CleanLong when) noexcept { clean_long_ = when; }
  /// Whether cells were given back since the last call. The caller then passes the fence of a doorbell's
  /// producer and asks wanted().
  [[nodiscard]] bool gave_back() noexcept { return std::exchange(gave_back_, false); }
  /// Whether the writer waits for room, told once.
  [[nodiscard]] bool wanted() noexcept {
    if (ring_.wanted().load(std::memory_order_relaxed) == 0) return false;
    ring_.wanted().store(0, std::memory_order_relaxed);
    return true;
  }
  [[nodiscard]] const Ring& ring() const noexcept { return ring_; }

 private:
  /// So many cells have been read.
  void pass(std::uint32_t cells) noexcept {
    at_ += cells;
    if (at_ == ring_.cells()) at_ = 0;
    consumed_ += cells;
    if (cells >= Ring::kLongCells) long_end_ = at_;
  }
  /// Clears the cells that have been read, or those behind the last long record, and tells the writer that
  /// they are free.
  void give_back(bool with_long) noexcept {
    // For the next lap the writer takes everything up to the end of a long record as stale.
    if (long_end_ != kNoCell) [[unlikely]] {
      if (!with_long) dirty_ = long_end_;
      long_end_ = kNoCell;
    }
    while (dirty_ != at_) {
      ring_.head(dirty_).store(0, std::memory_order_relaxed);
      if (++dirty_ == ring_.cells()) dirty_ = 0;
    }
    told_ = consumed_;
    ring_.consumed().store(consumed_, std::memory_order_release);
    gave_back_ = true;
  }
  Ring ring_{};
  bool gave_back_ = false;
  CleanLong clean_long_ = CleanLong::always;
  std::uint32_t at_ = 0;
  std::uint32_t dirty_ = 0;           // the oldest cell that was read and is still to be cleared
  std::uint32_t long_end_ = kNoCell;  // behind the last long record that was read and not given back
  std::uint32_t quarter_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace starling::btl

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A ring of records from one process to another: what makes it safe. Layer: plugin.
///
/// A ring of 64-byte cells; a record is a run of consecutive cells and begins with a header word that is not
/// zero. The cell behind the last record always has a zero header word: the terminator. The producer fills a
/// record, puts the terminator behind it and then stores the header with release order; the consumer polls
/// one word. A message of up to 56 bytes is therefore one cache line, and the consumer writes nothing into
/// the ring. A record never wraps: where it would, a pad record fills the rest of the ring. See
/// docs/design/lanes.md.
///
/// Threads:   one writer, one reader. The reader publishes how many cells it has consumed, now and then.
/// Ordering:  records are read in the order they were committed.
/// Units:     cells; positions are indices into the ring, counts are free-running.

#include <atomic>
#include <cstdint>

namespace starling::btl {

inline constexpr std::uint32_t kCellBytes = 64;
inline constexpr std::uint32_t kNoCell = ~std::uint32_t{0};

/// What a record is; part of its header word, never zero.
enum class RecordKind : std::uint8_t { data = 1, pad = 2, moved = 3, closed = 4 };

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
/// Cells of a record with so many bytes of payload behind its header word.
[[nodiscard]] constexpr std::uint32_t cells_for(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + 8 + kCellBytes - 1) / kCellBytes);
}

/// Ring: cells(), head(i) -> Atomic<uint64>& (the first word of cell i), consumed() -> Atomic<uint64>&. It is
/// copied.
template <class Atomics, class Ring>
class LaneWriter {
 public:
  LaneWriter() = default;
  explicit LaneWriter(Ring ring) noexcept : ring_(ring) {}

  /// Makes an unused extent an empty lane. The reader may look once it has heard of the lane with acquire
  /// order.
  void create() noexcept {
    ring_.head(0).store(0, std::memory_order_relaxed);
    ring_.consumed().store(0, std::memory_order_relaxed);
    at_ = pad_ = 0;
    written_ = consumed_ = 0;
  }

  /// Room for a record of up to `cells`: the index of its first cell, to be filled; or kNoCell: the ring is
  /// full.
  [[nodiscard]] std::uint32_t reserve(std::uint32_t cells) noexcept {
    const std::uint32_t total = ring_.cells();
    pad_ = cells > total - at_ ? total - at_ : 0;
    // The terminator behind the record must be free as well.
    const std::uint64_t end = written_ + pad_ + cells + 1;
    if (end - consumed_ > total) [[unlikely]] {
      // Acquire: the reader has finished with the cells that are about to be written again.
      consumed_ = ring_.consumed().load(std::memory_order_acquire);
      if (end - consumed_ > total) return kNoCell;
    }
    const std::uint32_t first = pad_ == 0 ? at_ : 0;
    terminate(behind(first, cells));
    return first;
  }

  /// Publishes the reserved record with so many cells (at most what was reserved).
  void commit(std::uint32_t cells, std::uint64_t header) noexcept {
    const std::uint32_t next = behind(pad_ == 0 ? at_ : 0, cells);
    terminate(next);
    if (pad_ != 0) [[unlikely]] {
      ring_.head(0).store(header, std::memory_order_relaxed);
      header = record_header(RecordKind::pad, 0);
    }
    // Release: payload, terminator and, behind a pad, the record's own header.
    ring_.head(at_).store(header, std::memory_order_release);
    written_ += pad_ + cells;
    at_ = next;
    terminated_ = kNoCell;
    // The next record is probably as long as this one: its terminator is written now, off the path of a
    // message.
    if (written_ + 2 * cells + 1 - consumed_ <= ring_.cells()) terminate(behind(next, cells));
  }

  /// The cell for a last record, which always has room: it takes the terminator's place.
  [[nodiscard]] std::uint32_t last_cell() const noexcept { return at_; }
  /// Publishes the record in last_cell(); nothing may follow.
  void finish(std::uint64_t header) noexcept { ring_.head(at_).store(header, std::memory_order_release); }

  [[nodiscard]] const Ring& ring() const noexcept { return ring_; }

 private:
  [[nodiscard]] std::uint32_t behind(std::uint32_t first, std::uint32_t cells) const noexcept {
    const std::uint32_t next = first + cells;
    return next >= ring_.cells() ? 0 : next;
  }
  void terminate(std::uint32_t cell) noexcept {
    if (cell == terminated_) return;
    ring_.head(cell).store(0, std::memory_order_relaxed);
    terminated_ = cell;
  }

  Ring ring_{};
  std::uint32_t terminated_ = kNoCell;  // the cell that was made the next record's terminator
  std::uint32_t at_ = 0;                // the terminator's cell, where the next record goes
  std::uint32_t pad_ = 0;               // cells that the reserved record skips at the end of the ring
  std::uint64_t written_ = 0;           // cells ever committed
  std::uint64_t consumed_ = 0;          // the reader's count when last looked at
};

template <class Atomics, class Ring>
class LaneReader {
 public:
  LaneReader() = default;
  explicit LaneReader(Ring ring) noexcept : ring_(ring), quarter_(ring.cells() / 4) {}

  /// The header of the next record, or 0. Its payload may be read until pop().
  [[nodiscard]] std::uint64_t peek() noexcept {
    std::uint64_t header = ring_.head(at_).load(std::memory_order_acquire);
    if (header == 0) {
      if (consumed_ != told_) tell();
      return 0;
    }
    if (kind_of(header) == RecordKind::pad) [[unlikely]] {
      consumed_ += ring_.cells() - at_;
      at_ = 0;
      header = ring_.head(0).load(std::memory_order_relaxed);  // published together with the pad
    }
    return header;
  }
  /// The record's first cell.
  [[nodiscard]] std::uint32_t cell() const noexcept { return at_; }

  /// Done with the record, which had so many cells.
  void pop(std::uint32_t cells) noexcept {
    at_ += cells;
    if (at_ == ring_.cells()) at_ = 0;
    consumed_ += cells;
    // Rarely, since the writer's copy of the line has to be fetched again each time.
    if (consumed_ - told_ >= quarter_) tell();
  }
  [[nodiscard]] const Ring& ring() const noexcept { return ring_; }

 private:
  void tell() noexcept {
    told_ = consumed_;
    ring_.consumed().store(consumed_, std::memory_order_release);
  }
  Ring ring_{};
  std::uint32_t at_ = 0;
  std::uint32_t quarter_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace starling::btl

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The cards of many processes as one block of bytes, to be sent, kept and searched. Layer: framework.
///
///     count u32 | unused u32 | { rank u32 | offset u32 | bytes u32 } sorted | cards
///
/// All processes in a block are of one world, the own world of both its writer and its readers.
/// Threads: value types; a block is not changed once made, so processes share one in a node's segment.
/// Errors:  bytes from others are checked once, by open(): bad_input.
/// Units:   bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"

namespace starling::bootstrap {

struct TableEntry {
  ProcId proc;
  std::vector<std::byte> card;
};

/// A block of these entries, each process once.
[[nodiscard]] std::vector<std::byte> encode_table(std::vector<TableEntry> entries);
/// As encode_table(), but several blocks in the order of the processes, none longer than `most_bytes` unless
/// a single card is.
[[nodiscard]] std::vector<std::vector<std::byte>> encode_chunks(std::vector<TableEntry> entries,
                                                                std::size_t most_bytes);

/// encode_table() of entries that are in order.
[[nodiscard]] std::vector<std::byte> encode_sorted(std::span<const TableEntry> entries);

/// The card of a process in a block. Empty: it is not there, or the bytes are no block.
[[nodiscard]] std::vector<std::byte> card_in(std::span<const std::byte> block, ProcId proc);

/// A view of a block.
class Table {
 public:
  Table() = default;
  [[nodiscard]] static Result<Table> open(std::span<const std::byte> block);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] ProcId at(std::uint32_t index) const noexcept;
  [[nodiscard]] TableEntry entry(std::uint32_t index) const;
  [[nodiscard]] std::optional<std::span<const std::byte>> card(ProcId proc) const noexcept;
  [[nodiscard]] std::span<const std::byte> block() const noexcept { return block_; }

 private:
  struct Row {
    std::uint32_t rank = 0, offset = 0, bytes = 0;
  };
  friend std::vector<std::byte> encode_sorted(std::span<const TableEntry> entries);
  [[nodiscard]] Row row(std::uint32_t index) const noexcept;

  std::span<const std::byte> block_;
  std::uint32_t size_ = 0;
};

}  // namespace starling::bootstrap

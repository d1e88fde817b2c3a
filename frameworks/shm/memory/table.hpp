// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Where a process of the node tells the others which memory of its they can map. Layer: framework.
///
/// The table lies in an extent of the node segment's arena; ProcSlot::memory says where. It stays there for
/// the life of the segment.
///
/// Threads:   as RangeTable; the segment server's words are written once, before the table is published.
/// Units:     bytes.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/atomics.hpp"
#include "frameworks/shm/memory/range_table.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {

/// Objects that a process can have at once. Each takes a descriptor of it.
inline constexpr std::uint32_t kMemoryObjectsMost = 256;

struct MemoryEntry {
  std::atomic<std::uint64_t> base;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> id;
  std::atomic<std::uint64_t> key;  ///< the object's inode
};

struct MemoryTable {
  alignas(64) std::atomic<std::uint64_t> sequence;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> lowest;
  std::atomic<std::uint64_t> highest;
  alignas(
      64) std::atomic<std::uint64_t> segment_server;  ///< the mailbox of its thread that hands objects over
  std::atomic<std::uint64_t> secret[2];  ///< proves to that thread that a datagram comes from this job
  alignas(64) MemoryEntry entries[kMemoryObjectsMost];
};
static_assert(sizeof(MemoryEntry) == 32 && sizeof(MemoryTable) == 128 + 32 * kMemoryObjectsMost &&
              offsetof(MemoryTable, segment_server) == 64 && offsetof(MemoryTable, entries) == 128);

/// A table in memory, as RangeTable sees it.
class MappedWords {
 public:
  static constexpr std::uint64_t kMost = kMemoryObjectsMost;
  explicit MappedWords(MemoryTable& table) noexcept : table_(&table) {}
  [[nodiscard]] std::atomic<std::uint64_t>& sequence() const noexcept { return table_->sequence; }
  [[nodiscard]] std::atomic<std::uint64_t>& count() const noexcept { return table_->count; }
  [[nodiscard]] std::atomic<std::uint64_t>& lowest() const noexcept { return table_->lowest; }
  [[nodiscard]] std::atomic<std::uint64_t>& highest() const noexcept { return table_->highest; }
  [[nodiscard]] MemoryEntry& at(std::uint64_t index) const noexcept { return table_->entries[index]; }

 private:
  MemoryTable* table_;
};

using MemoryRanges = RangeTable<StdAtomics, MappedWords>;

/// The table of a process of the node; null: it has none, or nothing that could be one.
[[nodiscard]] inline MemoryTable* memory_table(NodeSegment& segment, std::uint32_t local_rank) noexcept {
  const std::uint64_t offset = segment.slot(local_rank).memory.load(std::memory_order_acquire);
  return offset == 0 ? nullptr : reinterpret_cast<MemoryTable*>(segment.at(offset));
}

/// Makes the own table, empty; other processes see it once it is published.
[[nodiscard]] Result<std::uint64_t> make_memory_table(NodeSegment& segment);
void publish_memory_table(NodeSegment& segment, std::uint64_t offset) noexcept;

/// What a process asks another one's thread for, and gets back together with a descriptor. A thread that does
/// not have the object does not answer.
struct MemoryRequest {
  std::uint64_t secret[2] = {};
  std::uint64_t id = 0;
};
struct MemoryAnswer {
  std::uint64_t id = 0;
};
static_assert(sizeof(MemoryRequest) == 24 && sizeof(MemoryAnswer) == 8);

}  // namespace starling::shm

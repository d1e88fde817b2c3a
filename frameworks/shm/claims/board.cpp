// SPDX-License-Identifier: BSD-3-Clause
// The board of a node: made by whoever needs it first. Layer: framework. Design: docs/design/dynamic.md.

#include "frameworks/shm/claims/board.hpp"

#include <cstring>
#include <string>

namespace starling::shm {

std::optional<Board> Board::find(NodeSegment& segment) noexcept {
  const std::uint64_t offset = segment.board().load(std::memory_order_acquire);
  if (offset == 0) return std::nullopt;
  return Board(segment.at(offset), segment.local_size());
}

Result<Board> Board::make(NodeSegment& segment) {
  if (const auto there = find(segment)) return *there;
  const std::uint32_t size = segment.local_size();
  if (size * kSlotsEach > kSlotsMost || size > kBitWords * 64) {
    return fail(Errc::no_space, "copies that several processes make",
                std::to_string(size) + " processes on a node are too many for the names of their slots");
  }
  const std::size_t bytes =
      sizeof(BoardHeader) + size * (sizeof(BoardProcess) + kSlotsEach * sizeof(BoardSlot));
  auto offset = segment.allocate(bytes);
  if (!offset) return fail(std::move(offset).error().within("copies that several processes make"));
  // An extent may have been used before. Nobody looks at it yet.
  std::memset(static_cast<void*>(segment.at(*offset)), 0, bytes);
  const Board made(segment.at(*offset), size);
  for (std::uint32_t i = 0; i < size; ++i) made.process(i).work.store(kNoWork, std::memory_order_relaxed);
  std::uint64_t none = 0;
  if (!segment.board().compare_exchange_strong(none, *offset, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
    segment.release(*offset, bytes);  // somebody else was faster
    return Board(segment.at(none), size);
  }
  return made;
}

}  // namespace starling::shm

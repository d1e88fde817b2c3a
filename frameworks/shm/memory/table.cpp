// SPDX-License-Identifier: BSD-3-Clause
// A process's table in the node segment. Layer: framework.

#include "frameworks/shm/memory/table.hpp"

#include <cstring>

namespace starling::shm {

Result<std::uint64_t> make_memory_table(NodeSegment& segment) {
  auto offset = segment.allocate(sizeof(MemoryTable));
  if (!offset) return offset;
  // An extent may have been used before. Nobody looks at it yet.
  std::memset(static_cast<void*>(segment.at(*offset)), 0, sizeof(MemoryTable));
  return offset;
}

void publish_memory_table(NodeSegment& segment, std::uint64_t offset) noexcept {
  segment.slot(segment.local_rank()).memory.store(offset, std::memory_order_release);
}

}  // namespace starling::shm

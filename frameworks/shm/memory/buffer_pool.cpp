// SPDX-License-Identifier: BSD-3-Clause
// Buffers of managed receives: pieces of one range, and ordinary memory beyond. Layer: framework.
// Design: docs/design/managed-buffers.md.

#include "frameworks/shm/memory/buffer_pool.hpp"

#include <cstdlib>
#include <functional>
#include <new>

namespace starling::shm {

void BufferPool::open(std::byte* range, std::size_t bytes, bool shared) {
  pieces_ = Buddy(bytes, kBlock);
  touched_.assign(bytes / kBlock, false);
  range_ = range;
  range_bytes_ = bytes / kBlock * kBlock;
  shared_ = shared;
}

std::size_t BufferPool::offset_of(const Buffer& buffer) const noexcept {
  const std::less<const std::byte*> before;
  const bool inside =
      range_ != nullptr && !before(buffer.memory, range_) && before(buffer.memory, range_ + range_bytes_);
  return inside ? static_cast<std::size_t>(buffer.memory - range_) : kElsewhere;
}

void BufferPool::touch(std::size_t offset, std::size_t bytes) noexcept {
  const std::size_t end = (offset + bytes + kBlock - 1) / kBlock;
  for (std::size_t page = offset / kBlock; page < end; ++page) {
    if (touched_[page]) continue;
    touched_[page] = true;
    *static_cast<volatile std::byte*>(range_ + page * kBlock) = std::byte{0};
  }
}

std::byte* BufferPool::take_memory(std::size_t bytes, Where where) noexcept {
  if (range_ != nullptr && bytes <= range_bytes_) {
    if (const auto offset = pieces_.take(bytes)) {
      touch(*offset, bytes);
      return range_ + *offset;
    }
  }
  if (where == Where::in_range) return nullptr;
  ++counters_.ordinary;
  const std::size_t whole = (bytes + kBlock - 1) / kBlock * kBlock;
  return whole < bytes ? nullptr : static_cast<std::byte*>(std::aligned_alloc(kBlock, whole));
}

/// Index; throws std::bad_alloc.
std::uint32_t BufferPool::take_slot() {
  if (free_ == 0) {
    if (slots_.size() > kIndexMask) throw std::bad_alloc();
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t index = free_ - 1;
  free_ = slots_[index].next_free;
  return index;
}

BufferPool::Handle BufferPool::take(std::size_t bytes, Where where) noexcept {
  std::byte* const memory = take_memory(bytes, where);
  if (memory == nullptr) return {};
  const Handle handle = enter({memory, bytes});
  if (!handle) give_memory({memory, bytes});
  return handle;
}

BufferPool::Handle BufferPool::lend(std::byte* memory, std::size_t bytes, HeldBytes& held) noexcept {
  const Handle handle = enter({memory, bytes});
  if (handle) find(handle)->held = &held;
  return handle;
}

void BufferPool::give_memory(const Buffer& buffer) noexcept {
  if (buffer.held != nullptr) return buffer.held->release();
  const std::size_t offset = offset_of(buffer);
  offset == kElsewhere ? std::free(buffer.memory) : pieces_.give(offset);
}

BufferPool::Handle BufferPool::enter(const Buffer& buffer) noexcept {
  std::uint32_t index = 0;
  try {
    index = take_slot();
  } catch (const std::bad_alloc&) {
    return {};
  }
  Slot& slot = slots_[index];
  slot.buffer = buffer;
  slot.buffer.shown = buffer.memory;
  slot.out = true;
  ++counters_.taken;
  ++counters_.out;
  return {std::uint64_t{slot.generation} << 32 | kPool << 24 | index};
}

BufferPool::Buffer* BufferPool::find(Handle handle) noexcept {
  const auto index = static_cast<std::uint32_t>(handle.bits & kIndexMask);
  if ((handle.bits >> 24 & 0xff) != kPool || index >= slots_.size()) return nullptr;
  Slot& slot = slots_[index];
  return slot.out && slot.generation == handle.bits >> 32 ? &slot.buffer : nullptr;
}

void BufferPool::give(Handle handle) noexcept {
  Buffer* const buffer = find(handle);
  if (buffer == nullptr) return;
  const Buffer given = *buffer;
  const auto index = static_cast<std::uint32_t>(handle.bits & kIndexMask);
  Slot& slot = slots_[index];
  slot.buffer = {};
  slot.out = false;
  if (++slot.generation == 0) slot.generation = 1;
  slot.next_free = free_;
  free_ = index + 1;
  --counters_.out;
  give_memory(given);
}

}  // namespace starling::shm

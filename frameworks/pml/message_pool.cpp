// SPDX-License-Identifier: BSD-3-Clause
// Slabs are aligned to their size, so that a block finds its slab by masking. See docs/design/pml.md.
#include "frameworks/pml/message_pool.hpp"

#include <cstdlib>
#include <new>

#include "core/flush.hpp"
#include "core/log.hpp"

namespace starling::pml {

namespace {
[[noreturn]] void out_of_memory(std::size_t bytes) noexcept {
  log::error("pml: out of memory while keeping an unexpected message (" + std::to_string(bytes) +
             " bytes); receive earlier, or lower pml_unexpected_max");
  flush_streams();
  std::abort();
}
}  // namespace

MessagePool::~MessagePool() {
  // Blocks that are still out lie in full slabs, which are in no list; the owner gives all blocks back first.
  for (Slabs& room : room_) {
    while (Slab* const slab = room.pop_front()) std::free(slab);
  }
  while (Slab* const slab = spare_.pop()) std::free(slab);
}

void MessagePool::held(std::int64_t bytes) noexcept {
  footprint_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(footprint_) + bytes);
  if (footprint_ > footprint_max_) footprint_max_ = footprint_;
}

void MessagePool::list(Slabs& room, Slab& slab) noexcept {
  room.push_front(slab);
  slab.listed = true;
}

void MessagePool::unlist(Slabs& room, Slab& slab) noexcept {
  room.remove(slab);
  slab.listed = false;
}

MessagePool::Slab* MessagePool::fresh(std::size_t block) noexcept {
  void* memory = spare_.pop();
  if (memory != nullptr) {
    --spares_;
  } else {
    memory = std::aligned_alloc(kSlabBytes, kSlabBytes);
    if (memory == nullptr) out_of_memory(kSlabBytes);
    held(kSlabBytes);
  }
  Slab* const slab = new (memory) Slab;
  slab->block = static_cast<std::uint32_t>(block);
  slab->capacity = static_cast<std::uint32_t>((kSlabBytes - kHeader) / block);
  return slab;
}

void MessagePool::retire(Slab* slab) noexcept {
  if (spares_ < kSpareMax) {
    spare_.push(*slab);
    ++spares_;
    return;
  }
  std::free(slab);
  held(-static_cast<std::int64_t>(kSlabBytes));
}

void* MessagePool::take(std::size_t bytes) noexcept {
  if (bytes > kLargest) {
    void* const block = std::malloc(bytes);
    if (block == nullptr) out_of_memory(bytes);
    held(static_cast<std::int64_t>(bytes));
    return block;
  }
  const Class size = class_of(bytes);
  Slabs& room = room_[size.index];
  Slab* slab = room.front();
  if (slab == nullptr) {
    slab = fresh(size.block);
    list(room, *slab);
  }
  void* block = slab->free;
  if (block != nullptr) {
    slab->free = *static_cast<void**>(block);
  } else {
    block = reinterpret_cast<std::byte*>(slab) + kHeader + std::size_t{slab->carved} * slab->block;
    ++slab->carved;
  }
  if (++slab->live == slab->capacity) unlist(room, *slab);
  return block;
}

void MessagePool::give(void* block, std::size_t bytes) noexcept {
  if (bytes > kLargest) {
    std::free(block);
    held(-static_cast<std::int64_t>(bytes));
    return;
  }
  Slabs& room = room_[class_of(bytes).index];
  auto* const slab =
      reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(block) & ~std::uintptr_t{kSlabBytes - 1});
  *static_cast<void**>(block) = slab->free;
  slab->free = block;
  --slab->live;
  if (!slab->listed) list(room, *slab);
  // The class's last slab stays: a program that alternates between one message and none must not pay for a
  // slab each time.
  const bool alone = room.front() == slab && Slabs::after(*slab) == nullptr;
  if (slab->live == 0 && !alone) {
    unlist(room, *slab);
    retire(slab);
  }
}

}  // namespace starling::pml

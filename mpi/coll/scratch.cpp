// SPDX-License-Identifier: BSD-3-Clause
/// @file  Blocks are kept across operations because fresh pages cost more than the copies that use them.

#include "mpi/coll/scratch.hpp"

#include <algorithm>
#include <limits>

namespace starling::mpi::coll {

std::byte* Scratch::take(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max() / 4;
  if (bytes > kMost) {
    ok_ = false;
    return nullptr;
  }
  const std::size_t wanted =
      std::max<std::size_t>((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  for (; current_ < blocks_.size(); ++current_) {
    Block& block = blocks_[current_];
    if (block.size - block.used < wanted) continue;
    std::byte* const at = block.memory.get() + block.used;
    block.used += wanted;
    return at;
  }
  if (!ok_) return nullptr;
  const std::size_t size = std::max(wanted, kSmallestBlock);
  try {
    std::unique_ptr<std::byte[], Free> memory(new (std::align_val_t{kAlignment}) std::byte[size]);
    blocks_.push_back({std::move(memory), size, wanted});
  } catch (const std::bad_alloc&) {
    ok_ = false;
    return nullptr;
  }
  return blocks_.back().memory.get();
}

void Scratch::clear() noexcept {
  std::size_t kept = 0;
  std::erase_if(blocks_, [&kept](const Block& block) { return (kept += block.size) > kKeptBytes; });
  for (Block& block : blocks_) block.used = 0;
  current_ = 0;
  ok_ = true;
}

}  // namespace starling::mpi::coll

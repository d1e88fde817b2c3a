// SPDX-License-Identifier: BSD-3-Clause
// Copies and processor atomics in the process's own memory. Layer: plugin.

#include "plugins/btl/self/own_memory.hpp"

#include <cstring>

#include "frameworks/btl/plain_region.hpp"

namespace starling::btl {
namespace {

template <class Word>
void change_word(std::uint64_t address, const AtomicChange& change) noexcept {
  auto* const word = reinterpret_cast<Word*>(address);
  const auto operand = static_cast<Word>(change.operand);
  auto before = static_cast<Word>(change.compare);
  switch (change.kind) {
    case AtomicChange::Kind::add: before = __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST); break;
    case AtomicChange::Kind::bit_and: before = __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST); break;
    case AtomicChange::Kind::bit_or: before = __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST); break;
    case AtomicChange::Kind::bit_xor: before = __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST); break;
    case AtomicChange::Kind::swap: before = __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST); break;
    case AtomicChange::Kind::compare_swap:
      (void)__atomic_compare_exchange_n(word, &before, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      break;
  }
  if (change.fetched != nullptr) std::memcpy(change.fetched, &before, sizeof before);
}

}  // namespace

Result<std::unique_ptr<Region>> OwnMemory::open(std::span<const std::byte> key) {
  return PlainRegion::open(key, "btl/self");
}

Post OwnMemory::put(Region& to, std::uint64_t offset, std::span<const std::byte> from, Completion*) noexcept {
  const std::uint64_t address = plain_address(to, offset, from.size());
  ++counters_.remote;
  if (!from.empty()) std::memmove(reinterpret_cast<void*>(address), from.data(), from.size());
  return Post::done;
}

Post OwnMemory::get(Region& from, std::uint64_t offset, std::span<std::byte> to, Completion*) noexcept {
  const std::uint64_t address = plain_address(from, offset, to.size());
  ++counters_.remote;
  if (!to.empty()) std::memmove(to.data(), reinterpret_cast<const void*>(address), to.size());
  return Post::done;
}

Post OwnMemory::atomic(Region& at, std::uint64_t offset, const AtomicChange& change, Completion*) noexcept {
  expects(change.bytes == 4 || change.bytes == 8, "an atomic change of neither 4 nor 8 bytes");
  const std::uint64_t address = plain_address(at, offset, change.bytes);
  ++counters_.remote;
  change.bytes == 4 ? change_word<std::uint32_t>(address, change)
                    : change_word<std::uint64_t>(address, change);
  return Post::done;
}

}  // namespace starling::btl

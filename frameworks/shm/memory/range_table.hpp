// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which range of addresses an address lies in: one process writes the table, any process reads it.
/// Layer: framework.
///
/// The ranges are sorted, and a sequence number is odd while they change (a seqlock): readers write nothing,
/// and who meets a change looks again. The lowest and the highest address stand beside that number, so that
/// most addresses that lie in no range cost one cache line.
///
/// `Words` gives the atomics, in shared memory or in a model: sequence(), count(), lowest(), highest(),
/// at(index).base, .bytes, .id, .key, all of 64 bits, and kMost. All zero is a valid empty table.
///
/// Threads:   insert and erase by one thread at a time of one process; find by any, at any time.
/// Ordering:  what was written before insert() is visible to who finds the range.
/// Errors:    a writer that died in a change leaves the number odd: find() then says `changing` for ever.
/// Units:     bytes.

#include <atomic>
#include <cstdint>

namespace starling::shm {

struct Range {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;   ///< never the same for two ranges, also if they are the same addresses
  std::uint64_t key = 0;  ///< the owner's
};

enum class Look : std::uint8_t { none, found, changing };

struct Found {
  Look look = Look::none;
  Range range;
};

template <class Atomics, class Words>
class RangeTable {
 public:
  static constexpr unsigned kTries = 64;

  explicit RangeTable(Words words) noexcept : words_(words) {}

  /// False: it is full, or the range is empty, wraps around or overlaps another one.
  bool insert(const Range& range) noexcept {
    const std::uint64_t count = words_.count().load(std::memory_order_relaxed);
    if (count == Words::kMost || range.bytes == 0 || range.base + range.bytes < range.base) return false;
    const std::uint64_t at = first_above(range.base, count);
    if (at < count && base_of(at) < range.base + range.bytes) return false;
    if (at > 0 && end_of(at - 1) > range.base) return false;
    begin_change();
    for (std::uint64_t to = count; to > at; --to) put(to, get(to - 1));
    put(at, range);
    end_change(count + 1);
    return true;
  }

  /// Takes out the range that begins at `base`. False: there is none.
  bool erase(std::uint64_t base) noexcept {
    const std::uint64_t count = words_.count().load(std::memory_order_relaxed);
    const std::uint64_t above = first_above(base, count);
    if (above == 0 || base_of(above - 1) != base) return false;
    begin_change();
    for (std::uint64_t to = above - 1; to + 1 < count; ++to) put(to, get(to + 1));
    end_change(count - 1);
    return true;
  }

  /// Takes out all.
  void clear() noexcept {
    begin_change();
    end_change(0);
  }

  /// The range that holds [address, address + bytes). Never waits.
  [[nodiscard]] Found find(std::uint64_t address, std::uint64_t bytes) const noexcept {
    for (unsigned tries = 0; tries < kTries; ++tries) {
      const std::uint64_t before = version();
      if ((before & 1) != 0) continue;
      const Found found = look(address, bytes);
      // What was read above has been read before the number is looked at again.
      Atomics::fence(std::memory_order_acquire);
      if (words_.sequence().load(std::memory_order_relaxed) == before) return found;
    }
    return {Look::changing, {}};
  }

  /// Changes with every insert and erase.
  [[nodiscard]] std::uint64_t version() const noexcept {
    return words_.sequence().load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t count() const noexcept {
    return words_.count().load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::uint64_t base_of(std::uint64_t at) const noexcept {
    return words_.at(at).base.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t end_of(std::uint64_t at) const noexcept {
    return base_of(at) + words_.at(at).bytes.load(std::memory_order_relaxed);
  }
  [[nodiscard]] Range get(std::uint64_t at) const noexcept {
    auto& entry = words_.at(at);
    return {entry.base.load(std::memory_order_relaxed), entry.bytes.load(std::memory_order_relaxed),
            entry.id.load(std::memory_order_relaxed), entry.key.load(std::memory_order_relaxed)};
  }
  void put(std::uint64_t at, const Range& range) noexcept {
    auto& entry = words_.at(at);
    entry.base.store(range.base, std::memory_order_relaxed);
    entry.bytes.store(range.bytes, std::memory_order_relaxed);
    entry.id.store(range.id, std::memory_order_relaxed);
    entry.key.store(range.key, std::memory_order_relaxed);
  }

  /// Of the first `count` ranges, how many begin at or below the address.
  [[nodiscard]] std::uint64_t first_above(std::uint64_t address, std::uint64_t count) const noexcept {
    std::uint64_t low = 0;
    while (count > 0) {
      const std::uint64_t half = count / 2;
      const bool up = base_of(low + half) <= address;
      low = up ? low + half + 1 : low;
      count = up ? count - half - 1 : half;
    }
    return low;
  }

  [[nodiscard]] Found look(std::uint64_t address, std::uint64_t bytes) const noexcept {
    const std::uint64_t lowest = words_.lowest().load(std::memory_order_relaxed);
    if (address - lowest >= words_.highest().load(std::memory_order_relaxed) - lowest) return {};
    // In a change of its own a writer may have stored any count: no reader leaves the table.
    const std::uint64_t count = words_.count().load(std::memory_order_relaxed);
    const std::uint64_t above = first_above(address, count < Words::kMost ? count : Words::kMost);
    if (above == 0) return {};
    const Range range = get(above - 1);
    const std::uint64_t offset = address - range.base;
    if (offset >= range.bytes || bytes > range.bytes - offset) return {};
    return {Look::found, range};
  }

  void begin_change() noexcept {
    const std::uint64_t now = words_.sequence().load(std::memory_order_relaxed);
    words_.sequence().store(now | 1, std::memory_order_relaxed);
    // Who sees a store of the change sees that the number is odd.
    Atomics::fence(std::memory_order_release);
  }
  void end_change(std::uint64_t count) noexcept {
    words_.count().store(count, std::memory_order_relaxed);
    words_.lowest().store(count == 0 ? 0 : base_of(0), std::memory_order_relaxed);
    words_.highest().store(count == 0 ? 0 : end_of(count - 1), std::memory_order_relaxed);
    const std::uint64_t odd = words_.sequence().load(std::memory_order_relaxed);
    words_.sequence().store(odd + 1, std::memory_order_release);
  }

  Words words_;
};

}  // namespace starling::shm

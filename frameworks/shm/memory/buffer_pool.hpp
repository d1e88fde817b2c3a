// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Buffers that the library gives away and gets back, named by handles. Layer: framework. See
/// docs/design/managed-buffers.md.
///
/// Buffers lie in one range of memory, which others may have mapped. Its pages are touched when they are
/// first taken, and then used again and again. A buffer for which the range has no room is ordinary memory of
/// just its size, so the range limits nothing for the program. Memory of others, a transport's, is lent to
/// the pool and goes back there.
///
/// A handle is {pool, index, generation}. A handle of a buffer that was given back, or never taken, finds
/// nothing.
///
/// Threads:   one at a time.
/// Ownership: a buffer belongs to its taker until give(); the range is borrowed.
/// Errors:    take: an empty handle without memory. Stale handles find nothing.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/buddy.hpp"
#include "core/held_bytes.hpp"

namespace starling::shm {

class BufferPool {
 public:
  struct Handle {
    std::uint64_t bits = 0;  ///< 0: none
    [[nodiscard]] explicit operator bool() const noexcept { return bits != 0; }
    friend bool operator==(Handle a, Handle b) noexcept { return a.bits == b.bits; }
  };
  struct Buffer {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;  ///< that were asked for
    // The taker's, kept for it.
    void* shown = nullptr;  ///< the address that the program has
    int source = 0;
    int tag = 0;
    bool delivered = false;     ///< the program has to give it back
    HeldBytes* held = nullptr;  ///< not null: the memory is whose this is
  };

  static constexpr std::size_t kBlock = 4096;

  BufferPool() = default;
  ~BufferPool() = default;  // what is out stays valid
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// Gives the pool its range: buffers lie in it from now on, on page boundaries. `shared`: others can map
  /// it. Throws std::bad_alloc.
  void open(std::byte* range, std::size_t bytes, bool shared);
  [[nodiscard]] bool shared() const noexcept { return shared_; }
  [[nodiscard]] std::size_t range_bytes() const noexcept { return range_bytes_; }

  enum class Where : std::uint8_t { anywhere, in_range };
  /// At least one byte.
  [[nodiscard]] Handle take(std::size_t bytes, Where where = Where::anywhere) noexcept;
  /// A buffer in memory of somebody else's, released when the buffer is given back. Empty: it is not taken.
  [[nodiscard]] Handle lend(std::byte* memory, std::size_t bytes, HeldBytes& held) noexcept;
  void give(Handle handle) noexcept;
  /// The buffer of a handle; null: no such buffer is taken.
  [[nodiscard]] Buffer* find(Handle handle) noexcept;

  /// Where a buffer begins in the range; `none`: it is ordinary memory.
  static constexpr std::size_t kElsewhere = ~std::size_t{0};
  [[nodiscard]] std::size_t offset_of(const Buffer& buffer) const noexcept;

  struct Counters {
    std::uint64_t taken = 0;     ///< ever
    std::uint64_t ordinary = 0;  ///< of these, outside the range
    std::uint64_t out = 0;       ///< now
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  /// Calls visit(const Buffer&) for each that is out.
  template <class Visit>
  void each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.out) visit(slot.buffer);
    }
  }

 private:
  struct Slot {
    Buffer buffer;
    std::uint32_t generation = 1;
    std::uint32_t next_free = 0;  // 1 + index
    bool out = false;
  };
  static constexpr std::uint64_t kPool = 1;
  static constexpr std::uint32_t kIndexMask = 0xffffff;

  [[nodiscard]] std::byte* take_memory(std::size_t bytes, Where where) noexcept;
  void give_memory(const Buffer& buffer) noexcept;
  /// Empty: no memory for another slot.
  [[nodiscard]] Handle enter(const Buffer& buffer) noexcept;
  [[nodiscard]] std::uint32_t take_slot();
  void touch(std::size_t offset, std::size_t bytes) noexcept;

  std::byte* range_ = nullptr;
  std::size_t range_bytes_ = 0;
  bool shared_ = false;
  Buddy pieces_;
  std::vector<bool> touched_;  // pages of the range
  std::vector<Slot> slots_;
  std::uint32_t free_ = 0;  // 1 + index of a slot
  Counters counters_;
};

}  // namespace starling::shm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Memory for unexpected messages: size classes carved from slabs. Layer: framework (pml).
///
/// A flood of one size must not leave memory behind that another size cannot use: a slab whose last block is
/// given back returns to a small common stock, and beyond that to the system. Blocks above kLargest come from
/// malloc.
/// Threads:   the pml's.
/// Ownership: a block belongs to the caller until give().
/// Errors:    out of memory ends the process with a message: a message that has arrived can neither be kept
///            nor refused.
/// Units:     bytes.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/chain.hpp"
#include "core/stack.hpp"

namespace starling::pml {

class MessagePool {
 public:
  static constexpr std::size_t kSlabBytes = 256 * 1024;
  static constexpr std::size_t kLargest = 16 * 1024;

  MessagePool() = default;
  ~MessagePool();
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;

  [[nodiscard]] void* take(std::size_t bytes) noexcept;
  void give(void* block, std::size_t bytes) noexcept;

  /// Bytes held from the system now, and at most so far.
  [[nodiscard]] std::uint64_t footprint() const noexcept { return footprint_; }
  [[nodiscard]] std::uint64_t footprint_max() const noexcept { return footprint_max_; }

 private:
  struct Slab {
    Slab* next = nullptr;
    Slab* previous = nullptr;
    void* free = nullptr;  // blocks given back, linked through their first word
    std::uint32_t live = 0;
    std::uint32_t carved = 0;  // blocks cut off so far: untouched pages cost nothing
    std::uint32_t capacity = 0;
    std::uint32_t block = 0;
    bool listed = false;  // in its class's list of slabs with room
  };
  using Slabs = Chain<Slab, &Slab::next, &Slab::previous>;
  static constexpr std::size_t kHeader = 64;
  static_assert(sizeof(Slab) <= kHeader);
  static constexpr std::size_t kClasses =
      32 + 32;  // multiples of 32 to 1 KiB, then eight steps per doubling to 16 KiB
  static constexpr std::uint32_t kSpareMax = 2;

  struct Class {
    std::size_t index;
    std::size_t block;
  };
  static Class class_of(std::size_t bytes) noexcept {
    if (bytes <= 1024) {
      const std::size_t steps = bytes == 0 ? 1 : (bytes + 31) / 32;
      return {steps - 1, steps * 32};
    }
    const unsigned doubling = static_cast<unsigned>(std::bit_width((bytes - 1) >> 10)) - 1;  // 0: (1k, 2k]
    const std::size_t step = std::size_t{128} << doubling;
    const std::size_t base = std::size_t{1024} << doubling;
    const std::size_t steps = (bytes - base + step - 1) / step;  // 1..8
    return {32 + doubling * 8 + steps - 1, base + steps * step};
  }
  Slab* fresh(std::size_t block) noexcept;
  void retire(Slab* slab) noexcept;
  static void list(Slabs& room, Slab& slab) noexcept;
  static void unlist(Slabs& room, Slab& slab) noexcept;
  void held(std::int64_t bytes) noexcept;

  std::array<Slabs, kClasses> room_{};  // slabs with room, per class
  Stack<Slab, &Slab::next> spare_;
  std::uint32_t spares_ = 0;
  std::uint64_t footprint_ = 0;
  std::uint64_t footprint_max_ = 0;
};

}  // namespace starling::pml

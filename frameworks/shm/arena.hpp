// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Shared memory in extents, handed out to any process of the node. Layer: framework.
///
/// Extents have four sizes for each doubling: 4, 5, 6 and 7 times a power of two of pages, and 1, 2 and 3
/// pages.
/// An extent comes from the free list of its size, else from the part that nobody used yet, else a larger
/// free extent is split. Extents are never merged again. Small ones keep their pages when freed; large ones
/// give theirs back.
///
/// Threads:   allocate and release by any process at any time, lock-free.
/// Ownership: the NodeSegment owns the mapping. An extent belongs to the process that allocated it until
///            somebody releases it. The extents of a dead process are lost for the life of the segment;
///            nothing else is.
/// Errors:    no room, no memory, a full /dev/shm: Errc::no_space; pages are reserved before an offset is
///            handed out.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/result.hpp"
#include "frameworks/shm/layout.hpp"

namespace starling::shm {

/// Pages of the extents of a class.
[[nodiscard]] constexpr std::uint64_t pages_of_class(std::uint32_t size_class) noexcept {
  return size_class < 4 ? size_class + 1 : std::uint64_t{5 + size_class % 4} << (size_class / 4 - 1);
}
/// The first class whose extents hold that number of pages; kSizeClasses or more if none does.
[[nodiscard]] constexpr std::uint32_t class_of_pages(std::uint64_t pages) noexcept {
  if (pages <= 4) return pages == 0 ? 0 : static_cast<std::uint32_t>(pages - 1);
  const auto octave = static_cast<std::uint32_t>(std::bit_width(pages - 1)) - 3;  // of 5 to 8 << octave
  return 4 * octave + static_cast<std::uint32_t>((pages - 1) >> octave);
}

class Arena {
 public:
  Arena() = default;
  Arena(int fd, std::byte* base, const Geometry& geometry) noexcept;

  [[nodiscard]] Result<std::uint64_t> allocate(std::size_t bytes);
  void release(std::uint64_t offset, std::size_t bytes) noexcept;
  [[nodiscard]] std::uint64_t used() const noexcept {
    return header().used_bytes.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] Header& header() const noexcept { return *reinterpret_cast<Header*>(base_); }
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t index) const noexcept {
    return at_.extents + std::uint64_t{index - 1} * kPageBytes;
  }
  [[nodiscard]] std::uint32_t take(std::uint32_t size_class) noexcept;
  [[nodiscard]] Result<std::uint32_t> take_unused(std::uint32_t size_class);
  [[nodiscard]] std::uint32_t split(std::uint32_t size_class) noexcept;
  void put_pages(std::uint32_t index, std::uint64_t pages) noexcept;
  void put(std::uint32_t size_class, std::uint32_t index) noexcept;

  int fd_ = -1;
  std::byte* base_ = nullptr;
  Offsets at_;
};

/// Reserves the pages of [offset, offset + bytes) so that touching them cannot fail. `what` names the memory
/// in an error.
[[nodiscard]] Result<void> reserve_pages(int fd, std::uint64_t offset, std::uint64_t bytes, const char* what);

}  // namespace starling::shm

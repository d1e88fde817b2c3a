// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Bytes of a node segment: where what is. Layer: framework; shared by the shm plugins and
/// node_segment.cpp.
///
///     Header | ProcSlot[] | pad to 4 KiB | area[] | link table | extents
///
/// Threads:   the header's identity is written once, before `ready`; arena words by everybody.
/// Units:     bytes, offsets from the segment's start; pages are 4 KiB whatever the machine's page size is.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::uint32_t kReady =
    0x53'54'41'52;                                 // the value of Header::ready once everything is in place
inline constexpr std::uint32_t kSizeClasses = 88;  // of extents: arena.hpp

struct Header {
  std::atomic<std::uint32_t> ready;  ///< kReady with release order, stored last
  std::uint32_t layout_version;
  std::uint32_t local_size;
  std::uint32_t area_bytes;
  std::uint64_t arena_bytes;
  std::uint64_t job_nonce;
  std::atomic<std::uint32_t> ends;                       ///< of processes, marked by mpiexec
  std::atomic<std::uint32_t> deaths;                     ///< those among them that were not in order
  std::atomic<std::uint32_t> far_deaths;                 ///< told by mpiexec, of processes of other nodes
  std::atomic<std::uint32_t> far_death[kFarDeathsMost];  ///< their ranks
  std::byte pad0[4];
  alignas(128) std::atomic<std::uint64_t> bump_pages;  ///< pages of the arena that were ever handed out
  std::atomic<std::uint64_t> used_bytes;
  std::byte pad1[112];
  alignas(128) std::atomic<std::uint64_t> free_heads[kSizeClasses];  ///< FreeList heads, by class
  std::byte pad2[64];
  alignas(128) YieldPause yield_pause;
  std::byte pad3[104];
  alignas(128) std::atomic<std::uint64_t> board;       ///< where the board of copies begins; 0: there is none
  std::atomic<std::uint64_t> findings[kFindingsMost];  ///< what trials have found on this node; the pml's
  std::byte pad4[120];
};
static_assert(sizeof(Header) == 2560 && offsetof(Header, board) == 1152 &&
              offsetof(Header, bump_pages) == 128 && offsetof(Header, free_heads) == 256 &&
              offsetof(Header, yield_pause) == 1024);
static_assert(std::is_standard_layout_v<Header> && std::is_standard_layout_v<ProcSlot>);

/// Where the parts of a segment of this geometry begin.
struct Offsets {
  std::size_t slots = 0, areas = 0, links = 0, extents = 0, end = 0;
  std::uint64_t arena_pages = 0;
};

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

[[nodiscard]] constexpr Offsets offsets_of(const Geometry& geometry) noexcept {
  Offsets at;
  at.slots = sizeof(Header);
  at.areas = round_up(at.slots + geometry.local_size * sizeof(ProcSlot), kPageBytes);
  at.links = at.areas + std::size_t{geometry.local_size} * geometry.area_bytes;
  at.arena_pages = geometry.arena_bytes / kPageBytes;
  // One link per page and one more, since links are numbered from 1.
  at.extents = at.links + round_up((at.arena_pages + 1) * sizeof(std::uint32_t), kPageBytes);
  at.end = at.extents + at.arena_pages * kPageBytes;
  return at;
}

}  // namespace starling::shm

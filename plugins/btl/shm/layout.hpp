// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Bytes of btl/shm in a node segment: a process's area and a lane. Layer: plugin.
///
///     area:  AreaHeader | IngressCell[]            lane:  LaneHeader | 64-byte cells
///
/// Zero bytes are a valid area. All parts of one job run the same version (the segment's header is compared
/// at attach). Units: bytes; offsets count from the segment's start.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "plugins/btl/shm/lane.hpp"

namespace starling::btl {

inline constexpr std::uint32_t kActivityWords = 64;  // 4096 producers
inline constexpr std::uint32_t kPermits = 8;

struct AreaHeader {
  alignas(64) std::atomic<std::uint64_t> tail;  ///< producers
  alignas(64) std::atomic<std::uint64_t> head;  ///< the consumer
  /// Where this process keeps a copy of `nonce` in its own memory: read through the kernel to learn whether
  /// that is allowed. Stored last, with release order.
  alignas(64) std::atomic<std::uint64_t> nonce_address;
  std::atomic<std::uint64_t> nonce;
  alignas(64) std::atomic<std::uint64_t> permits[kPermits];  ///< to write to this process (btl::Permit)
  std::atomic<std::uint64_t> activity[kActivityWords];       ///< one bit per producing local rank
};
static_assert(sizeof(AreaHeader) == 768 && offsetof(AreaHeader, activity) == 256);

enum class IngressKind : std::uint16_t { data = 0, lane = 1 };

struct alignas(64) IngressCell {
  static constexpr std::size_t kPayloadBytes = 240;
  std::atomic<std::uint64_t> word;
  std::uint32_t world_rank;  ///< of the producer
  std::uint16_t bytes;
  std::uint16_t kind;  ///< IngressKind
  std::byte payload[kPayloadBytes];
};
static_assert(sizeof(IngressCell) == 256 && offsetof(IngressCell, payload) == 16);

struct LaneHeader {
  alignas(64) std::atomic<std::uint64_t> consumed;  ///< written by the reader
  alignas(64) std::atomic<std::uint32_t> wanted;    ///< raised by a writer that waits for room
  std::byte pad[60];
};
static_assert(sizeof(LaneHeader) == 128);

/// An extent of the arena that holds a lane: payload of announcements and of `moved` records.
struct LaneExtent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(std::is_trivially_copyable_v<LaneExtent> && sizeof(LaneExtent) == 16);

[[nodiscard]] constexpr std::uint32_t lane_cells(std::uint64_t extent_bytes) noexcept {
  return static_cast<std::uint32_t>((extent_bytes - sizeof(LaneHeader)) / kCellBytes);
}
/// The longest message that an empty lane takes wherever its position is: half the ring.
[[nodiscard]] constexpr std::size_t lane_message_max(std::uint64_t extent_bytes) noexcept {
  return std::size_t{lane_cells(extent_bytes) / 2} * kCellBytes - 8;
}

/// A lane in memory, as LaneWriter and LaneReader see it.
class MappedRing {
 public:
  static constexpr std::uint32_t kLongCells = 64;

  MappedRing() = default;
  MappedRing(std::byte* extent, std::uint64_t bytes) noexcept : base_(extent), cells_(lane_cells(bytes)) {}

  [[nodiscard]] std::uint32_t cells() const noexcept { return cells_; }
  [[nodiscard]] std::atomic<std::uint64_t>& head(std::uint32_t cell) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(cell_address(cell));
  }
  [[nodiscard]] std::atomic<std::uint64_t>& consumed() const noexcept {
    return reinterpret_cast<LaneHeader*>(base_)->consumed;
  }
  [[nodiscard]] std::atomic<std::uint32_t>& wanted() const noexcept {
    return reinterpret_cast<LaneHeader*>(base_)->wanted;
  }
  /// Where the payload of a record begins.
  [[nodiscard]] std::byte* payload(std::uint32_t cell) const noexcept { return cell_address(cell) + 8; }

 private:
  [[nodiscard]] std::byte* cell_address(std::uint32_t cell) const noexcept {
    return base_ + sizeof(LaneHeader) + std::size_t{cell} * kCellBytes;
  }
  std::byte* base_ = nullptr;
  std::uint32_t cells_ = 0;
};

/// A process's area in memory, as IngressProducer and IngressConsumer see it.
class MappedIngress {
 public:
  MappedIngress() = default;
  MappedIngress(std::byte* area, std::size_t bytes) noexcept
      : area_(area), cells_(static_cast<std::uint32_t>((bytes - sizeof(AreaHeader)) / sizeof(IngressCell))) {}

  [[nodiscard]] std::uint32_t cells() const noexcept { return cells_; }
  [[nodiscard]] AreaHeader& header() const noexcept { return *reinterpret_cast<AreaHeader*>(area_); }
  [[nodiscard]] IngressCell& cell(std::uint32_t index) const noexcept {
    return reinterpret_cast<IngressCell*>(area_ + sizeof(AreaHeader))[index];
  }
  [[nodiscard]] std::atomic<std::uint64_t>& word(std::uint32_t index) const noexcept {
    return cell(index).word;
  }
  [[nodiscard]] std::atomic<std::uint64_t>& tail() const noexcept { return header().tail; }
  [[nodiscard]] std::atomic<std::uint64_t>& head() const noexcept { return header().head; }

 private:
  std::byte* area_ = nullptr;
  std::uint32_t cells_ = 0;
};

}  // namespace starling::btl

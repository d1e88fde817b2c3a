// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Strong identifiers and the three answers of a hot call. Layer: core.
///
/// Threads: value types.
/// Units: none. No implicit conversion between any two of them.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace starling {

/// A process: which launched world (index into this process's table of worlds; 0 is its own), which rank in
/// it. It belongs to no communicator and no device.
struct ProcId {
  std::uint32_t world = 0;
  std::uint32_t rank = 0;
  friend auto operator<=>(const ProcId&, const ProcId&) = default;
};

/// Index of a process in one communicator or group.
enum class Rank : std::int32_t {};
/// A node of the job, as the process manager numbers them; ids may have gaps.
enum class NodeId : std::uint32_t {};
/// A message tag as the user gave it (or an internal one on a collective channel).
enum class Tag : std::int32_t {};

constexpr std::int32_t to_int(Rank rank) noexcept { return static_cast<std::int32_t>(rank); }
constexpr std::int32_t to_int(Tag tag) noexcept { return static_cast<std::int32_t>(tag); }
constexpr std::uint32_t to_int(NodeId node) noexcept { return static_cast<std::uint32_t>(node); }

/// What one communicator uses a context id for; messages of two channels never match each other.
enum class Channel : std::uint8_t {
  point_to_point = 0,
  collective = 1,
  creation = 2,
  node = 3,
  roots = 4,
  partitioned = 5
};

/// 64-bit context id, unique in a world without any agreement: leader's rank (32 bits), the leader's counter
/// (29), channel (3). Another world may use the same id for something else: docs/design/worlds.md.
struct ContextId {
  std::uint64_t bits = 0;

  static constexpr std::uint32_t kMaxCounter = (1u << 29) - 1;
  static constexpr ContextId make(std::uint32_t leader, std::uint32_t counter) noexcept {
    return {(std::uint64_t{leader} << 32) | (std::uint64_t{counter & kMaxCounter} << 3)};
  }
  [[nodiscard]] constexpr ContextId on(Channel channel) const noexcept {
    return {(bits & ~std::uint64_t{7}) | static_cast<std::uint64_t>(channel)};
  }
  [[nodiscard]] constexpr Channel channel() const noexcept { return static_cast<Channel>(bits & 7); }
  friend auto operator<=>(const ContextId&, const ContextId&) = default;
};

/// Answer of a hot call: finished; accepted, completes later; not now (flow control, not an error).
enum class Post : std::uint8_t { done, posted, again };

}  // namespace starling

template <>
struct std::hash<starling::ProcId> {
  std::size_t operator()(const starling::ProcId& proc) const noexcept {
    return std::hash<std::uint64_t>{}((std::uint64_t{proc.world} << 32) | proc.rank);
  }
};
template <>
struct std::hash<starling::ContextId> {
  std::size_t operator()(const starling::ContextId& id) const noexcept {
    return std::hash<std::uint64_t>{}(id.bits);
  }
};

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One member's part of a window, and the path that leads to it. Layer: mpi. docs/design/onesided.md
///
/// Threads: immutable once the window is made. Units: bytes; displacements in the target's units.

#include <cstddef>
#include <cstdint>

namespace starling::mpi {

/// How this process reaches a target's memory.
enum class Path : std::uint8_t {
  direct,  ///< it is mapped here: loads and stores
  copy,    ///< private memory of a process of this node: the kernel copies
  message  ///< the target's process does it, when a message asks
};
inline constexpr std::size_t kPaths = 3;

struct Target {
  static constexpr std::uint32_t kElsewhere = ~std::uint32_t{0};

  std::byte* base = nullptr;  ///< where it is mapped here; null: it is not
  std::uint64_t size = 0;
  std::int64_t unit = 1;            ///< of displacements
  std::uint64_t address = 0;        ///< where it begins in its own process
  std::uint32_t seat = kElsewhere;  ///< its number among the members that share control words with this one
  std::uint32_t local_rank = 0;     ///< of its process on this node, if it has a seat
  Path path = Path::message;

  /// Where a byte is mapped here. Of a dynamic window the offset is the address itself, and base is null.
  [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + offset);
  }
};

}  // namespace starling::mpi

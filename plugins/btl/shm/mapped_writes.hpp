// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Memory of other processes that they have let this one write to. Layer: plugin.
///
/// A map of its own beside that of the gets, which cannot be written to.
///
/// Threads:   as btl::Component.
/// Ownership: owns maps; borrows the node segment.
/// Errors:    what cannot be mapped is not found.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>

#include "frameworks/shm/memory/maps.hpp"
#include "plugins/btl/shm/mapped_gets.hpp"

namespace starling::btl {

class MappedWrites {
 public:
  MappedWrites(shm::NodeSegment& segment, MapChoice choice, std::uint32_t most) noexcept
      : maps_(segment, choice == MapChoice::never ? 0 : most, Access::read_write),
        on_(choice != MapChoice::never && most != 0) {}

  [[nodiscard]] bool on() const noexcept { return on_; }
  /// Where these bytes of a process are mapped; null: they are not, or not yet.
  [[nodiscard]] std::byte* find(std::uint32_t local_rank, std::uint64_t address, std::size_t bytes) noexcept {
    const auto view = maps_.find(local_rank, address, bytes, true);
    return view.state == shm::MemoryMaps::State::mapped ? view.at : nullptr;
  }
  /// A process has ended.
  void drop(std::uint32_t local_rank) noexcept { maps_.drop(local_rank); }
  /// Forgets memory that was freed.
  void tidy() noexcept {
    if (maps_.size() != 0) maps_.drop_freed();
  }

 private:
  shm::MemoryMaps maps_;
  bool on_;
};

}  // namespace starling::btl

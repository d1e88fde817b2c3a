// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What MPI_Alloc_mem has given away. Layer: mpi. MPI 5.0 section 9.2; docs/design/shared-memory.md.
///
/// From a size on it is memory that the other processes of the node can map, if there are any. Else, and
/// where that cannot be had, it is ordinary memory.
///
/// Threads:   one at a time: under the runtime's lock.
/// Ownership: what was not released stays valid to the end of the process, also after MPI_Finalize.
/// Errors:    allocate: no_space, with the limit that is in the way.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "core/result.hpp"
#include "frameworks/shm/memory/owned.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::mpi {

class AllocatedMemory {
 public:
  /// From here on there are others who can map it, if this segment has others. It outlives the sharing.
  /// `shared_min`: from this size on; 0: never.
  void share_in(shm::NodeSegment& segment, std::uint64_t shared_min);
  void stop_sharing() noexcept { owned_.reset(); }

  /// `alignment`: a power of two, at least a pointer's.
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, std::size_t alignment);
  /// An Error says why this is no address to give back; then nothing has changed.
  [[nodiscard]] Result<void> release(void* base);
  /// Zeroed memory that the other processes of the node can map, of any size, for a window: until withdraw(),
  /// which gives it to the caller. Not for release().
  [[nodiscard]] Result<std::byte*> offer(std::size_t bytes);
  [[nodiscard]] Mapping withdraw(const std::byte* base) noexcept { return owned_->take(base); }
  /// The object that these bytes lie in, if others can map it: where it begins.
  [[nodiscard]] std::optional<std::uint64_t> object_of(const void* base, std::size_t bytes) const noexcept;
  /// How many pieces others can map.
  [[nodiscard]] std::size_t shared() const noexcept { return owned_ ? owned_->count() : 0; }

 private:
  [[nodiscard]] void* allocate_shared(std::size_t bytes);

  std::uint64_t shared_min_ = 0;
  std::optional<shm::OwnedMemory> owned_;
  std::unordered_set<void*> ordinary_;
  bool told_ = false;  // why memory is ordinary that was to be shared
};

}  // namespace starling::mpi

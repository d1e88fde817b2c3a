// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The memory objects that this process has made, and the thread that hands them to others. Layer:
/// framework. See docs/design/shared-memory.md.
///
/// The first object makes the table in the node segment and starts the thread. It sleeps until another
/// process of the node asks for an object by its number, and sends the descriptor (SCM_RIGHTS): so others can
/// map an object while this process computes, in other pid namespaces and as other users. Who asks shows the
/// secret that stands in the node segment, which no stranger can read.
///
/// Threads:   allocate, release and take by any.
/// Ownership: owns the objects; borrows the node segment, which outlives it. What has not been released stays
///            mapped here for the life of the process.
/// Errors:    no_space: memory, descriptors or entries of the table; system: no thread or socket.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/mapping.hpp"
#include "core/result.hpp"
#include "frameworks/shm/memory/range_table.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {

/// How many objects a process may have at once: an eighth of its descriptors (ulimit -n), kMemoryObjectsMost
/// at most.
[[nodiscard]] std::uint32_t memory_objects_most() noexcept;

class OwnedMemory {
 public:
  OwnedMemory(NodeSegment& segment, std::uint32_t most);
  ~OwnedMemory();
  OwnedMemory(const OwnedMemory&) = delete;
  OwnedMemory& operator=(const OwnedMemory&) = delete;

  /// Zeroed memory that the other processes of the node can map, on a page boundary. `bytes`: at least 1.
  [[nodiscard]] Result<std::byte*> allocate(std::size_t bytes);
  /// Gives an object back, also the pages that others have mapped. False: none begins there.
  [[nodiscard]] bool release(const void* base) noexcept;
  /// Gives an object to the caller: those who have mapped it keep it, and nobody can ask for it any more. It
  /// counts no longer, and costs no descriptor. Empty: none begins there.
  [[nodiscard]] Mapping take(const void* base) noexcept;
  /// The object that holds this address; a few nanoseconds where there is none.
  [[nodiscard]] Found find(const void* address) const noexcept;
  [[nodiscard]] std::size_t count() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling::shm

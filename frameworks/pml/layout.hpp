// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How a datatype's bytes lie in memory, as the pml sees it. Layer: framework interface.
///
/// mpi/datatype implements it; a btl never sees it. A message is `count` elements whose packed form is
/// `count * packed_bytes()` bytes; pack and unpack work on any byte range of that packed form, in any order,
/// so that fragments can be handled one by one.
/// Threads: immutable, any. Units: bytes.

#include <cstddef>
#include <cstdint>

#include "core/held_bytes.hpp"

namespace starling::shm {
class BufferPool;  // frameworks/shm/memory/buffer_pool.hpp
}

namespace starling::pml {

struct Buffer;

/// Memory of a receive that is found only when its message is known: of a buffer that the library provides.
///
/// Threads: the pml's.
class Placement {
 public:
  /// Called once, when the receive has matched, if the message brings anything: `buffer` becomes memory for
  /// `bytes` packed bytes, at most what it was posted with. False: there is none.
  [[nodiscard]] virtual bool place(Buffer& buffer, std::uint64_t bytes) noexcept = 0;
  /// Instead of place(): the packed bytes lie in this buffer of the pool's already, which becomes the
  /// receive's. False: they have to be copied.
  [[nodiscard]] virtual bool adopt(Buffer& buffer, std::uint64_t handle, std::uint64_t bytes) noexcept = 0;
  /// The same of bytes that lie where a transport has received them. False: they have to be copied, and are
  /// not its to release.
  [[nodiscard]] virtual bool keep(Buffer& buffer, std::byte* memory, std::uint64_t bytes,
                                  HeldBytes& held) noexcept = 0;
  /// Where the memory comes from.
  [[nodiscard]] virtual shm::BufferPool& pool() noexcept = 0;

 protected:
  ~Placement() = default;
};

class Layout {
 public:
  virtual ~Layout() = default;
  /// Null: the memory is there when the receive is posted.
  [[nodiscard]] virtual Placement* placement() const noexcept { return nullptr; }
  /// Packed bytes of one element.
  [[nodiscard]] virtual std::uint64_t packed_bytes() const noexcept = 0;
  /// Copies bytes [offset, offset + bytes) of the packed form of `count` elements at `base` to `to`.
  virtual void pack(const void* base, std::uint64_t count, std::uint64_t offset, std::byte* to,
                    std::size_t bytes) const noexcept = 0;
  /// The reverse.
  virtual void unpack(void* base, std::uint64_t count, std::uint64_t offset, const std::byte* from,
                      std::size_t bytes) const noexcept = 0;
};

/// A message buffer. layout == nullptr: `bytes` contiguous bytes at `base`. Otherwise base, count and layout
/// describe it, and `bytes` is the packed size.
struct Buffer {
  void* base = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  const Layout* layout = nullptr;
};

/// Null: the memory of this receive is there.
[[nodiscard]] inline Placement* placement_of(const Buffer& buffer) noexcept {
  return buffer.layout != nullptr ? buffer.layout->placement() : nullptr;
}

/// Has the memory of a receive found that has matched. False: there is none.
[[nodiscard]] inline bool place(Buffer& buffer, std::uint64_t bytes) noexcept {
  Placement* const placement = placement_of(buffer);
  return placement == nullptr || placement->place(buffer, bytes);
}

}  // namespace starling::pml

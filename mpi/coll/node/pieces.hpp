// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Part of a buffer's packed bytes to and from a cell. Layer: mpi. Threads: any. Units: bytes.

#include <cstddef>
#include <cstdint>

#include "core/copy.hpp"
#include "frameworks/pml/layout.hpp"

namespace starling::mpi::coll::node {

inline void put(const pml::Buffer& from, std::uint64_t offset, std::byte* cell, std::size_t bytes) noexcept {
  if (from.layout == nullptr) {
    copy_payload(cell, static_cast<const std::byte*>(from.base) + offset, bytes);
  } else {
    from.layout->pack(from.base, from.count, offset, cell, bytes);
  }
}

inline void take(const pml::Buffer& to, std::uint64_t offset, const std::byte* cell,
                 std::size_t bytes) noexcept {
  if (to.layout == nullptr) {
    copy_payload(static_cast<std::byte*>(to.base) + offset, cell, bytes);
  } else {
    to.layout->unpack(to.base, to.count, offset, cell, bytes);
  }
}

}  // namespace starling::mpi::coll::node

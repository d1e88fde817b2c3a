// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a collective needs to know of a datatype and of a reduction, as plain values. Layer: mpi.
///
/// Threads:   value types; the layout and the objects behind them are immutable.
/// Ownership: borrowed: whoever starts a schedule keeps datatypes and operations alive until it has
///            completed.
/// Units:     bytes, counts in elements.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "frameworks/pml/layout.hpp"

namespace starling::mpi::coll {

using pml::Buffer;

/// One datatype. MPI 5.0 section 5.1.
struct Type {
  const pml::Layout* layout = nullptr;
  std::uint64_t size = 0;    ///< packed bytes of one element
  std::int64_t extent = 0;   ///< distance between two elements; may be negative
  std::int64_t true_lb = 0;  ///< first byte of an element, relative to its address
  std::int64_t true_extent = 0;
  bool contiguous = false;       ///< any number of elements is one run of bytes that starts at true_lb
  const void* object = nullptr;  ///< what Operator::apply is given back: the Datatype
};

/// Bytes that nobody describes further: packed data.
[[nodiscard]] inline Buffer packed(void* base, std::uint64_t bytes) noexcept {
  return {base, bytes, 0, nullptr};
}

/// `count` elements at `base`.
[[nodiscard]] inline Buffer region(void* base, std::uint64_t count, const Type& type) noexcept {
  if (count * type.size == 0) return {base, 0, 0, nullptr};
  if (type.contiguous) return {static_cast<std::byte*>(base) + type.true_lb, count * type.size, 0, nullptr};
  return {base, count * type.size, count, type.layout};
}
/// As above, for memory that is only read: a pml::Buffer serves both directions.
[[nodiscard]] inline Buffer region(const void* base, std::uint64_t count, const Type& type) noexcept {
  return region(const_cast<void*>(base), count, type);
}

/// Address of element `index`.
[[nodiscard]] inline std::byte* element(void* base, std::uint64_t index, const Type& type) noexcept {
  return static_cast<std::byte*>(base) + static_cast<std::int64_t>(index) * type.extent;
}
[[nodiscard]] inline const std::byte* element(const void* base, std::uint64_t index,
                                              const Type& type) noexcept {
  return static_cast<const std::byte*>(base) + static_cast<std::int64_t>(index) * type.extent;
}

/// A reduction: out[i] = in[i] op right[i]. MPI 5.0 section 6.9: `in` holds the lower ranks' part. `out` is
/// `right`; for types without gaps it may also be a place that overlaps neither.
struct Operator {
  using Apply = void (*)(const Operator& self, const void* in, const void* right, void* out,
                         std::uint64_t count, const Type& type);
  Apply apply = nullptr;
  const void* object = nullptr;  ///< for apply: the Op
  bool commutative = true;
  std::uint8_t code = 0;  ///< equal for equal operations; 0: unknown
};

}  // namespace starling::mpi::coll

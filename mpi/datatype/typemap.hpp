// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Typemaps as trees that keep the constructors' regularity. Layer: mpi. MPI 5.0 section 5.1.
///
/// A million strided doubles are one loop node, not a million entries; sizes and displacements are 64-bit.
/// The tree keeps the basic elements (for external32 and element counts); what moves bytes is compiled from
/// it (program.hpp).
///
/// Threads:   immutable after construction; any.
/// Ownership: nodes are shared between the types that were built on each other.
/// Errors:    builders answer an Error when a size or displacement does not fit in 63 bits.
/// Units:     bytes.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "mpi/datatype/basic.hpp"

namespace starling::mpi {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// A node with the displacement of its origin.
struct Placed {
  std::int64_t displacement = 0;
  NodePtr node;
};

struct Node {
  enum class Kind : std::uint8_t {
    leaf,    ///< `count` elements `basic`, one after the other
    loop,    ///< `count` times the child, `stride` apart
    blocks,  ///< for each i: counts[i] children, `stride` apart, beginning at displacements[i]
    list     ///< the items, in order
  };
  Kind kind = Kind::leaf;
  Basic basic = Basic::none;
  bool dense = true;  ///< the packed form is the memory [lower, lower + size) as it is
  std::uint64_t count = 0;
  std::int64_t stride = 0;
  NodePtr child;
  std::vector<std::int64_t> displacements;
  std::vector<std::int64_t> counts;
  std::vector<Placed> items;

  std::uint64_t size = 0;      ///< packed bytes
  std::uint64_t elements = 0;  ///< basic elements
  std::int64_t lower = 0;      ///< first byte of data, relative to the origin; 0 when there is none
  std::int64_t upper = 0;      ///< one past the last byte
};

/// `count` basic elements; a pair becomes a list of its two parts.
[[nodiscard]] NodePtr make_leaf(Basic basic);
[[nodiscard]] NodePtr make_empty();
[[nodiscard]] Result<NodePtr> make_loop(std::int64_t count, std::int64_t stride, NodePtr child);
[[nodiscard]] Result<NodePtr> make_blocks(std::vector<std::int64_t> displacements,
                                          std::vector<std::int64_t> counts, std::int64_t stride,
                                          NodePtr child);
[[nodiscard]] Result<NodePtr> make_list(std::vector<Placed> items);

/// Basic elements in the first `bytes` packed bytes; nothing if they end inside an element.
[[nodiscard]] std::optional<std::uint64_t> elements_in(const Node& node, std::uint64_t bytes);
/// Packed bytes of the first `elements` basic elements; `elements` is at most node.elements.
[[nodiscard]] std::uint64_t bytes_of(const Node& node, std::uint64_t elements);
/// The one basic element that the whole typemap consists of, else none (MPI 5.0 section 12.3.4, accumulate).
[[nodiscard]] Basic only_basic(const Node& node);

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Datatypes. Layer: mpi. MPI 5.0 chapter 5. Design: docs/design/datatypes.md.
///
/// A Datatype is what a handle names: a shared, immutable Shape (typemap, bounds, the constructor's
/// arguments) and, once committed, the Program that moves its bytes. Constructors: construct.hpp; predefined
/// ones: predefined.hpp.
///
/// Threads:   everything but commit(), name and attributes is immutable; commit() under the runtime's lock,
///            before the first use.
/// Ownership: reference-counted; communication in progress holds a reference, so freeing returns at once.
///            Derived types hold the shapes of what they were built from, not the objects.
/// Errors:    pack and unpack need a committed type and cannot fail.
/// Units:     bytes; counts of elements where the name says so.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frameworks/pml/layout.hpp"
#include "mpi/attribute/attributes.hpp"
#include "mpi/datatype/basic.hpp"
#include "mpi/datatype/typemap.hpp"
#include "mpi/handle.hpp"

namespace starling::mpi {

class Program;
struct Shape;
using ShapePtr = std::shared_ptr<const Shape>;

/// How a type was made; the values are the ABI's MPI_COMBINER_*.
enum class Combiner : int {
  named = 101,
  dup,
  contiguous,
  vector,
  hvector,
  indexed,
  hindexed,
  indexed_block,
  hindexed_block,
  structure,
  subarray,
  darray,
  f90_real,
  f90_complex,
  f90_integer,
  resized,
  value_index
};

/// The constructor's arguments in the order in which the standard lists them (MPI 5.0 section 5.1.13).
struct Contents {
  enum class Sort : std::uint8_t {
    integer,  ///< always an int
    count,    ///< an int, or a large count if the _c constructor was called
    address   ///< an MPI_Aint, or a large count if the _c constructor was called
  };
  struct Argument {
    Sort sort;
    std::vector<std::int64_t> values;
  };
  Combiner combiner = Combiner::named;
  std::vector<Argument> arguments;
  std::vector<ShapePtr> types;

  /// How many values of this sort there are.
  [[nodiscard]] std::size_t count(Sort sort) const noexcept;
  /// True if some count does not fit in an int, so that only the _c constructor can have made it.
  [[nodiscard]] bool needs_large_counts() const noexcept;
};

/// What a type is, apart from its handle.
struct Shape {
  Placed map;
  std::int64_t lb = 0, ub = 0;
  bool explicit_bounds = false;  ///< lb and ub come from markers (resized, subarray, darray), not the data
  std::uint32_t align = 1;
  Basic basic = Basic::none;  ///< of predefined types and their duplicates
  OpClass op_class = OpClass::none;
  HandleBits predefined = 0;  ///< the ABI's constant, or 0
  Contents contents;

  [[nodiscard]] std::int64_t true_lb() const noexcept { return map.displacement + map.node->lower; }
  [[nodiscard]] std::int64_t true_ub() const noexcept { return map.displacement + map.node->upper; }
};

class Datatype final : public GuardedObject, public pml::Layout {
 public:
  explicit Datatype(ShapePtr shape);
  ~Datatype() override;

  /// Bytes of data in one element; memory from one element to the next.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t extent() const noexcept { return extent_; }
  [[nodiscard]] std::int64_t lb() const noexcept { return shape_->lb; }
  [[nodiscard]] std::int64_t ub() const noexcept { return shape_->ub; }
  [[nodiscard]] std::int64_t true_lb() const noexcept { return shape_->true_lb(); }
  [[nodiscard]] std::int64_t true_ub() const noexcept { return shape_->true_ub(); }
  [[nodiscard]] std::int64_t true_extent() const noexcept { return true_ub() - true_lb(); }

  /// Whether the packed form of any number of elements at `base` is the memory from `base` on.
  [[nodiscard]] bool contiguous() const noexcept { return contiguous_; }
  /// Memory that `count` elements span, from their true lower bound on (for temporary buffers, see gap()).
  [[nodiscard]] std::int64_t span_bytes(std::uint64_t count) const noexcept;
  /// The distance from a buffer's address to its first byte, which may be negative: a temporary buffer is
  /// passed to MPI as its begin - gap(count).
  [[nodiscard]] std::int64_t gap(std::uint64_t count) const noexcept;
  /// Whether its displacements can be addresses, for use with MPI_BOTTOM: its data begin beyond the first 64
  /// KiB.
  [[nodiscard]] bool absolute() const noexcept {
    return static_cast<std::uint64_t>(true_lb()) >= (std::uint64_t{1} << 16);
  }

  /// Element of predefined operations: the basic element of a predefined type (or a duplicate of one), else
  /// none.
  [[nodiscard]] Basic basic() const noexcept { return shape_->basic; }
  [[nodiscard]] OpClass op_class() const noexcept { return shape_->op_class; }
  /// Basic elements in one element of this type.
  [[nodiscard]] std::uint64_t basic_elements() const noexcept { return shape_->map.node->elements; }

  [[nodiscard]] bool committed() const noexcept { return program_ != nullptr; }
  /// Compiles the type for communication; nothing happens the second time.
  void commit();
  /// Becomes committed like `other`, which has the same typemap and bounds.
  void commit_like(const Datatype& other) noexcept { program_ = other.program_; }

  [[nodiscard]] std::uint64_t packed_bytes() const noexcept override { return size_; }
  void pack(const void* base, std::uint64_t count, std::uint64_t offset, std::byte* to,
            std::size_t bytes) const noexcept override;
  void unpack(void* base, std::uint64_t count, std::uint64_t offset, const std::byte* from,
              std::size_t bytes) const noexcept override;

  /// The description of `count` elements at `base` that the pml takes.
  [[nodiscard]] pml::Buffer buffer(void* base, std::uint64_t count) const noexcept {
    if (contiguous_) [[likely]]
      return {base, size_ * count, 0, nullptr};
    return laid_out(base, count);
  }
  [[nodiscard]] pml::Buffer buffer(const void* base, std::uint64_t count) const noexcept {
    return buffer(const_cast<void*>(base), count);
  }

  [[nodiscard]] const ShapePtr& shape() const noexcept { return shape_; }
  [[nodiscard]] const Contents& contents() const noexcept { return shape_->contents; }
  /// The compiled form, for tests and for a log line: "strided 512 x 8 / 4096".
  [[nodiscard]] std::string describe() const;

  std::string name;
  AttributeSet attributes;

 private:
  [[nodiscard]] pml::Buffer laid_out(void* base, std::uint64_t count) const noexcept;

  ShapePtr shape_;
  std::shared_ptr<const Program> program_;
  std::uint64_t size_;
  std::int64_t extent_;
  bool contiguous_;
};

}  // namespace starling::mpi

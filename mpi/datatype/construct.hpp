// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Constructors of derived datatypes. Layer: mpi. MPI 5.0 sections 5.1.2 to 5.1.10.
///
/// Counts and block lengths must be >= 0 (entry points check scalars; arrays are checked here). Displacements
/// and strides may be negative; those of the h-forms are bytes, the others multiples of the old type's
/// extent.
///
/// Threads:   pure functions; any.
/// Ownership: a new type shares the typemaps of the old ones; it is not committed and has no handle.
/// Errors:    bad_parameter names the argument; also when a size does not fit in 63 bits.
/// Units:     bytes where said.

#include <span>

#include "core/result.hpp"
#include "mpi/datatype/datatype.hpp"

namespace starling::mpi {

using Int64s = std::span<const std::int64_t>;
using NewType = Result<Ref<Datatype>>;

[[nodiscard]] NewType make_contiguous(std::int64_t count, const Datatype& old);
[[nodiscard]] NewType make_vector(std::int64_t count, std::int64_t block_length, std::int64_t stride,
                                  const Datatype& old);
[[nodiscard]] NewType make_hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                                   const Datatype& old);
[[nodiscard]] NewType make_indexed(Int64s block_lengths, Int64s displacements, const Datatype& old);
[[nodiscard]] NewType make_hindexed(Int64s block_lengths, Int64s displacement_bytes, const Datatype& old);
[[nodiscard]] NewType make_indexed_block(std::int64_t block_length, Int64s displacements,
                                         const Datatype& old);
[[nodiscard]] NewType make_hindexed_block(std::int64_t block_length, Int64s displacement_bytes,
                                          const Datatype& old);
[[nodiscard]] NewType make_struct(Int64s block_lengths, Int64s displacement_bytes,
                                  std::span<const Datatype* const> types);
[[nodiscard]] NewType make_resized(std::int64_t lb, std::int64_t extent, const Datatype& old);
/// A new type with the same typemap and bounds, committed if the old one is (MPI 5.0 section 5.1.10).
[[nodiscard]] NewType make_dup(const Datatype& old);

/// The values are the ABI's MPI_ORDER_*.
enum class ArrayOrder : int { c = 0xC, fortran = 0xF };
[[nodiscard]] NewType make_subarray(Int64s sizes, Int64s subsizes, Int64s starts, ArrayOrder order,
                                    const Datatype& old);

/// The values are the ABI's MPI_DISTRIBUTE_*.
enum class Distribution : int { none = 16, block = 17, cyclic = 18 };
inline constexpr std::int64_t kDefaultDistributionArgument = 19;
struct DarrayDimension {
  std::int64_t size = 0;
  Distribution distribution = Distribution::none;
  std::int64_t argument = kDefaultDistributionArgument;
  std::int64_t processes = 1;
};
/// The part of a distributed array that process `rank` of `processes` holds (MPI 5.0 section 5.1.4).
[[nodiscard]] NewType make_darray(std::int64_t processes, std::int64_t rank,
                                  std::span<const DarrayDimension> dimensions, ArrayOrder order,
                                  const Datatype& old);

/// A second object of the same shape, not committed; predefined and Fortran-kind shapes answer their one
/// object.
[[nodiscard]] Ref<Datatype> object_of(const ShapePtr& shape);

}  // namespace starling::mpi

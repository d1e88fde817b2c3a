// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One process's view of a buffer that holds a block for every rank. Layer: mpi.
///
/// MPI_Gather, MPI_Gatherv and MPI_Alltoallw describe the same thing in three ways: block i is `count`
/// elements at a place that follows from i, or from a displacement. Builders ask for block(i) and need not
/// know which.
///
/// Threads:   a value.
/// Ownership: borrows buffer, arrays and types while a schedule is built; afterwards only the buffer.
/// Units:     displacements in extents of the type; in bytes where there is one type per rank (MPI 5.0
///            section 6.8).

#include <cstdint>

#include "mpi/coll/type.hpp"

namespace starling::mpi::coll {

/// An array of counts or displacements: of int in MPI_X, of MPI_Count or MPI_Aint in MPI_X_c.
struct Ints {
  const int* narrow = nullptr;
  const std::int64_t* wide = nullptr;
  [[nodiscard]] std::int64_t operator[](int i) const noexcept {
    return wide != nullptr ? wide[i] : narrow[i];
  }
  explicit operator bool() const noexcept { return wide != nullptr || narrow != nullptr; }
};

class Blocks {
 public:
  Blocks() = default;
  /// Equal blocks, one after the other.
  Blocks(const void* base, std::uint64_t count, const Type& type) noexcept
      : base_(const_cast<void*>(base)), type_(&type), count_(count) {}
  /// Block i: counts[i] elements, displacements[i] extents from the base.
  Blocks(const void* base, Ints counts, Ints displacements, const Type& type) noexcept
      : base_(const_cast<void*>(base)), type_(&type), counts_(counts), displacements_(displacements) {}
  /// Block i: counts[i] elements of types[i], displacements[i] bytes from the base.
  Blocks(const void* base, Ints counts, Ints displacements, const Type* types) noexcept
      : base_(const_cast<void*>(base)), types_(types), counts_(counts), displacements_(displacements) {}

  [[nodiscard]] bool uniform() const noexcept { return !counts_; }
  [[nodiscard]] const Type& type(int i) const noexcept { return types_ != nullptr ? types_[i] : *type_; }
  [[nodiscard]] std::uint64_t count(int i) const noexcept {
    return counts_ ? static_cast<std::uint64_t>(counts_[i]) : count_;
  }
  [[nodiscard]] std::uint64_t bytes(int i) const noexcept { return count(i) * type(i).size; }

  [[nodiscard]] void* address(int i) const noexcept {
    auto* const base = static_cast<std::byte*>(base_);
    if (types_ != nullptr) return base + displacements_[i];
    return base +
           (displacements_ ? displacements_[i] : i * static_cast<std::int64_t>(count_)) * type_->extent;
  }
  [[nodiscard]] Buffer block(int i) const noexcept { return region(address(i), count(i), type(i)); }
  /// Blocks [first, first + n) as one message; only of equal blocks.
  [[nodiscard]] Buffer run(int first, int n) const noexcept {
    return region(address(first), count_ * static_cast<std::uint64_t>(n), *type_);
  }
  /// Bytes of the first n blocks together.
  [[nodiscard]] std::uint64_t total(int n) const noexcept {
    std::uint64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += bytes(i);
    return sum;
  }

 private:
  void* base_ = nullptr;
  const Type* type_ = nullptr;
  const Type* types_ = nullptr;
  std::uint64_t count_ = 0;
  Ints counts_, displacements_;
};

}  // namespace starling::mpi::coll

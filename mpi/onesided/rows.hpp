// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Elements of accumulates as a row: one after the other, with the padding inside pairs
/// (MPI_DOUBLE_INT and its kind). Layer: mpi.
/// Threads: any. Units: elements where the name says so, else bytes.

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/onesided/transfer.hpp"

namespace starling::mpi {

/// Whether elements of this type lie in memory as such a row.
[[nodiscard]] bool lies_in_row(const Datatype& type, Basic element) noexcept;
/// A row of the first `elements` elements of `data`.
[[nodiscard]] std::vector<std::byte> gather_row(const Data& data, Basic element, std::uint64_t elements);
/// Copies a row to where the type of `data` has its elements.
void scatter_row(std::span<const std::byte> row, const Data& data, Basic element);

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Elements of accumulates in a row, one after the other, with the padding of pairs. Layer: mpi.
/// Threads: any. Units: elements where the name says so, else bytes.

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/onesided/transfer.hpp"

namespace starling::mpi {

/// Whether elements of this type lie so in memory already.
[[nodiscard]] bool lies_in_row(const Datatype& type, Basic element) noexcept;
/// The first `elements` of them, put in a row.
[[nodiscard]] std::vector<std::byte> gather_row(const Data& data, Basic element, std::uint64_t elements);
/// From a row to where the type has them.
void scatter_row(std::span<const std::byte> row, const Data& data, Basic element);

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The external32 representation: big endian, fixed sizes. Layer: mpi. MPI 5.0 section 14.5.2.
///
/// Threads:   pure functions on the caller's buffers; any.
/// Errors:    packing answers false if a value does not fit in its external size (a long beyond 32 bits, a
///            wide character beyond 16).
/// Units:     bytes.

#include "mpi/datatype/datatype.hpp"

namespace starling::mpi {

/// External size of one element of the type.
[[nodiscard]] std::uint64_t external_bytes(const Node& node) noexcept;
[[nodiscard]] bool pack_external(const Datatype& type, const void* base, std::uint64_t count,
                                 std::byte* to) noexcept;
void unpack_external(const Datatype& type, void* base, std::uint64_t count, const std::byte* from) noexcept;

}  // namespace starling::mpi

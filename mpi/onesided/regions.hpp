// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which memory of this process belongs to a window: its part, or what was attached to a dynamic one.
/// Layer: mpi. MPI 5.0 section 12.2.4
///
/// Threads:   under the runtime's lock.
/// Errors:    MPI_ERR_RMA_ATTACH.
/// Units:     bytes; in a dynamic window offsets are addresses.

#include <cstdint>
#include <string>

#include "mpi/onesided/window.hpp"

namespace starling::mpi {

[[nodiscard]] int attach(Win& win, void* base, MPI_Aint size);
[[nodiscard]] int detach(Win& win, const void* base);
/// Whether all of these bytes belong to this process's part.
[[nodiscard]] bool holds(const Win& win, std::uint64_t offset, std::uint64_t bytes) noexcept;
/// An offset as people know it: "target offset 40", or "address 0x7f...".
[[nodiscard]] std::string range_text(const Win& win, std::uint64_t offset);

}  // namespace starling::mpi

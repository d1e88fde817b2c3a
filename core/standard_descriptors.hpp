// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Descriptors 0, 1 and 2 that are closed when a process starts. Layer: core.
///
/// Whatever is opened next gets the lowest free number. A process that a daemon or an agent started without
/// them would read and print into its own sockets and shared memory, and hand these to its children as their
/// standard error.
///
/// Threads: any; best before anything that stays open is opened. Errors: none; without any free descriptor
///          nothing is changed.

#include <cstdint>

namespace starling {

/// What reading and writing of such a number does afterwards.
enum class Filling : std::uint8_t {
  works,   ///< as with /dev/null: reads end at once, writes vanish
  refuses  ///< EBADF, as before: the program that closed it still learns that its output goes nowhere
};

/// Opens something on each of 0, 1 and 2 that is closed. Children inherit it.
void fill_standard_descriptors(Filling filling) noexcept;

}  // namespace starling

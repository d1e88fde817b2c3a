// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Waiting until somebody has read what was written. Layer: core. Threads: any.
///
/// A launcher that forwards what its processes print learns of an abort by another descriptor. Hydra ends at
/// once then, and what it has not read yet is lost, although it was written first.

#include "core/clock.hpp"

namespace starling {

/// Waits until nothing is left unread in the pipe or socket behind a descriptor that was written to.
/// \return  whether all was read. Files and terminals keep what they get: true at once. False: the deadline
///          has passed, because nobody reads.
[[nodiscard]] bool await_read(int fd, const Deadline& deadline) noexcept;

}  // namespace starling

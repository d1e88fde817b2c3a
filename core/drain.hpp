// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Waiting until somebody has read what was written. Layer: core. Threads: any.
///
/// A launcher that forwards the output of its processes learns of an abort through another descriptor. Hydra
/// then ends at once, and output that it has not read is lost, although it was written before the abort.

#include "core/clock.hpp"

namespace starling {

/// Waits until everything that was written to `fd`, a pipe or socket, has been read. \return whether all was
/// read. Files and terminals keep what they get: true at once. False: the deadline has passed, because nobody
/// reads.
[[nodiscard]] bool await_read(int fd, const Deadline& deadline) noexcept;

}  // namespace starling

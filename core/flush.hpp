// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the program has printed and C's streams still hold, before a process ends at once. Layer:
/// core.
///
/// Threads: any, also several at once. Errors: none are told; what cannot be written in time is lost.

#include <cstdint>

namespace starling {

/// How long an ending process may try to write; longer than a busy machine needs.
inline constexpr std::uint64_t kFlushNs = 1'000'000'000;

/// Writes out all of C's output streams, as exit() does, but never waits longer than `limit_ns`: nobody may
/// read the pipe behind a stream, and another thread may hold a stream's lock for ever.
/// \return  whether all was written in time.
bool flush_streams(std::uint64_t limit_ns = kFlushNs) noexcept;

/// Has standard output written line by line from here on, also into pipes and files, where C's library would
/// keep some kilobytes: what a process has printed when a signal ends it is not lost, and is seen while it
/// runs. Leaves a stream alone that the program has made unbuffered, or has given a large buffer.
void write_lines_at_once() noexcept;

}  // namespace starling

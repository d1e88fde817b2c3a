// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Processes of a node that end: in order, or not. Layer: framework. See docs/design/shared-memory.md.
///
/// A death is told at once, by NodeSegment::mark_ended(). Ends in order are told together: telling looks at
/// each process of the node, and at the end of a job of n processes there are n of them.
///
/// Threads:   marking and telling by one process (mpiexec), one thread; is_alive() by any.

#include <atomic>
#include <cstdint>
#include <functional>

#include "frameworks/shm/doorbell.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {

/// What a sleeper awaits (doorbell.hpp) that may be woken for messages and deaths, but not for ends in order:
/// it waits for processes that have yet to come.
inline constexpr std::uint32_t kAwaitsNoEnd = kAwaitsAll - 1;

/// Marks the process of that slot as ended if it has left in order, and wakes nobody: that is tell_ends().
/// False if it has not left; then nothing is changed.
[[nodiscard]] bool mark_left_ended(NodeSegment& segment, std::uint32_t local_rank) noexcept;

/// Wakes who sleeps and may wait for a message of a process that was marked.
void tell_ends(NodeSegment& segment) noexcept;

/// Whether the process of a slot is alive, as NodeSegment::alive() means it. `there`: whether a process with
/// the slot's pid and start time exists; asked only if the slot does not tell.
[[nodiscard]] bool is_alive(const ProcSlot& slot, const std::function<bool()>& there);

}  // namespace starling::shm

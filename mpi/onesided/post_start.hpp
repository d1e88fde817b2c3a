// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Epochs among some members: MPI_Win_post, start, complete, wait, test. Layer: mpi.
/// MPI 5.0 section 12.5.2; docs/design/onesided.md
///
/// MPI_Win_start returns at once; the first operation on a target, or MPI_Win_complete, waits until that one
/// has posted. All costs are those of the group's members, never of the window's.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ordering:  as post_words.hpp has it, for the whole of the window's memory.
/// Errors:    MPI_ERR_GROUP, MPI_ERR_ASSERT; MPI_ERR_RMA_SYNC for calls that do not fit what is open;
///            MPI_ERR_PROC_ABORTED if a member that is waited for has died.

#include <cstdint>

#include "mpi/group/group.hpp"
#include "mpi/onesided/window.hpp"

namespace starling::mpi {

[[nodiscard]] int post_exposure(Win& win, const Group& origins, int assertion);
[[nodiscard]] int start_access(Win& win, const Group& targets, int assertion);
[[nodiscard]] int complete_access(Win& win);
[[nodiscard]] int wait_exposure(Win& win);
/// `flag`: the exposure epoch has ended; else the call has let messages move.
[[nodiscard]] int test_exposure(Win& win, bool& flag);

/// For an operation on a target that is not accessible() yet: waits for the target's post, if an epoch for it
/// was started. MPI_SUCCESS: it is accessible now.
[[nodiscard]] int await_post(Win& win, std::uint32_t target);

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Making and freeing windows. Layer: mpi. MPI 5.0 section 12.2; docs/design/onesided.md
///
/// All members of the communicator call at once. One exchange of what each wants decides, from equal facts,
/// whether there will be a window: a member that cannot take part fails the call on all, and none waits.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ownership: a made Win has one reference, the handle's.
/// Errors:    MPI error classes; on all members, though each with the class that it has noticed.

#include <cstdint>
#include <string>

#include "mpi/onesided/window.hpp"

namespace starling::mpi {

/// What one member asks for.
struct WinRequest {
  int flavor = 0;
  MPI_Aint size = 0;
  MPI_Count unit = 1;
  Info* info = nullptr;  ///< or null
  void* base = nullptr;  ///< of MPI_WIN_FLAVOR_CREATE
};

struct MadeWin {
  int error_class = 0;
  Win* win = nullptr;
};
[[nodiscard]] MadeWin make_window(Comm& parent, const WinRequest& request);

/// MPI_Win_free: waits for all members that live. The window is gone, unless a delete callback refused or an
/// epoch is open.
[[nodiscard]] int free_window(Win& win, bool& freed);

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which process this is. Layer: mpi.
/// Threads:   written once by the runtime before any communicator exists.

#include "core/ids.hpp"

namespace starling::mpi {

/// This process; {0, 0} until the runtime knows its rank.
[[nodiscard]] ProcId self_proc() noexcept;

}  // namespace starling::mpi

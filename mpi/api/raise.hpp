// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Errors of calls that bring their own error handler. Layer: mpi. MPI 5.0 sections 7.4.2, 11.6.

#include "mpi/errhandler/errhandler.hpp"

namespace starling::mpi {

/// The error that this thread's call is about to return is raised by this handler instead of that of an
/// object: a communicator that could not be made has none. Returns `code`, to be returned.
[[nodiscard, gnu::cold]] int raise_by(const Errhandler& handler, int code);

}  // namespace starling::mpi

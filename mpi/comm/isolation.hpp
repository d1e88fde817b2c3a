// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Objects of one session stay among themselves. Layer: mpi. MPI 5.0 section 11.3.
///
/// Communicators, groups and requests of different sessions, or of a session and the world model, may not
/// meet in one call; datatypes, operations, error handlers and info objects belong to nobody. Programs
/// without sessions pay for one look at a flag, and only in calls that take several such objects.
///
/// Threads:   under the runtime's lock.
/// Errors:    the class of the object that does not belong: MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_REQUEST.

#include "mpi/comm/comm.hpp"
#include "mpi/error.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/session/session.hpp"

namespace starling::mpi {

/// Notes why two arguments may not meet; returns `error_class`.
[[nodiscard, gnu::cold]] int of_another_session(int error_class, const char* argument, const char* other);

/// Some objects may be of a session.
[[nodiscard]] inline bool sessions_used() noexcept {
  return registry().sessions_used.load(std::memory_order_relaxed);
}
/// MPI_GROUP_EMPTY, the only group without members, belongs to nobody.
[[nodiscard]] inline bool may_meet(const Group& a, const Group& b) noexcept {
  return a.session().get() == b.session().get() || a.size() == 0 || b.size() == 0;
}
[[nodiscard]] inline bool may_meet(const Comm& comm, const Group& group) noexcept {
  return comm.session.get() == group.session().get() || group.size() == 0;
}
[[nodiscard]] inline bool may_meet(const Comm& a, const Comm& b) noexcept {
  return a.session.get() == b.session.get();
}

}  // namespace starling::mpi

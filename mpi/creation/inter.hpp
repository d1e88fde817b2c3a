// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Making communicators of two groups, and from them. Layer: mpi. MPI 5.0 sections 7.4.2, 7.6.2.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ownership: a made Comm has one reference, the handle's.
/// Errors:    MPI error classes (mpi/error.hpp). What a leader finds wrong reaches the whole local group.

#include <string>

#include "mpi/creation/factory.hpp"

namespace starling::mpi {

/// What the leader of a group knows of the other one; looked at there only.
struct Bridge {
  Comm* peer = nullptr;  ///< null: not a live communicator
  int remote_leader = 0;
  int tag = 0;
};
/// By all members of `local` and of the group at the other end of the bridge (MPI_Intercomm_create).
[[nodiscard]] Made inter_create(Comm& local, int local_leader, const Bridge& bridge);

/// As above, without any communicator; `remote` (may be null) is looked at by the leader only
/// (MPI_Intercomm_create_from_groups).
[[nodiscard]] Made inter_from_groups(const Ref<Group>& local, int local_leader, Group* remote,
                                     int remote_leader, const std::string& tag);

/// One group of the two; those that say `high` come last (MPI_Intercomm_merge).
[[nodiscard]] Made inter_merge(Comm& inter, bool high);

/// By all members of an intercommunicator: subgroups of both sides.
[[nodiscard]] Made inter_create_sub(Comm& parent, const Ref<Group>& group);
[[nodiscard]] Made inter_split(Comm& parent, int color, int key);

}  // namespace starling::mpi

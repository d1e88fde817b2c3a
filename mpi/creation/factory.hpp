// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Making communicators. Layer: mpi. MPI 5.0 sections 7.4, 11.3.
///
/// Threads: under the runtime's lock.
/// Errors: MPI error classes (mpi/error.hpp).
/// Ownership: a made Comm has one reference, the handle's.

#include <cstdint>
#include <string>

#include "mpi/comm/comm.hpp"

namespace starling::mpi {

/// The result of a creation: an error class, or MPI_SUCCESS and the communicator (null for a process that is
/// in no new group).
struct Made {
  int error_class = 0;
  Comm* comm = nullptr;
};
[[nodiscard]] inline Made failed(int error_class) noexcept { return {error_class, nullptr}; }

/// The groups of a new communicator, and this process's rank in the first.
struct Sides {
  Ref<Group> local;
  Ref<Group> remote;  ///< empty for an intracommunicator
  std::uint32_t rank = 0;
};

class CommFactory {
 public:
  /// A communicator of a group, made by its members only, who give the same tag (MPI_Comm_create_from_group,
  /// world, self).
  [[nodiscard]] static Made from_group(const Ref<Group>& group, const std::string& tag,
                                       const Ref<Session>& session);
  /// MPI_COMM_SELF-like: one member, purely local.
  [[nodiscard]] static Made self(const Ref<Session>& session);
  /// The group of `parent` with a new context, by all members of an intracommunicator; for communicators that
  /// carry nothing else over (topologies). MPI_Comm_dup: mpi/creation/duplicate.hpp.
  [[nodiscard]] static Made duplicate(Comm& parent);
  /// A subgroup, by all members of `parent`; `group` may be empty or not contain this process.
  [[nodiscard]] static Made create(Comm& parent, const Ref<Group>& group);
  /// A subgroup, by its members only, separated by `tag`.
  [[nodiscard]] static Made create_group(Comm& parent, const Ref<Group>& group, int tag);
  /// By color and key, by all members of `parent`; color MPI_UNDEFINED gives no communicator.
  [[nodiscard]] static Made split(Comm& parent, int color, int key);

  /// Opens the channels of a communicator whose id the members of each world have agreed on and gives it its
  /// handle. It inherits the error handler of `parent` (may be null).
  [[nodiscard]] static Made finish(const ContextIds& ids, const Sides& sides, const Comm* parent,
                                   const Ref<Session>& session);
  /// MPI_Comm_free: ends the handle; the object goes with its last operation.
  static void release(Comm& comm);
};

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A receive whose buffer the library provides, as the operation of a request. Layer: mpi. See
/// docs/design/managed-buffers.md.
///
/// Threads:   under the runtime's lock.
/// Ownership: the request's. Its pml::Request is the request's core, which the pml completes.
/// Errors:    as any receive.

#include "mpi/managed/buffer.hpp"
#include "mpi/request/request.hpp"

namespace starling::mpi {

class ManagedReceive final : public Operation {
 public:
  /// `core` has context, source and tag.
  ManagedReceive(Request& request, Datatype& datatype, MPI_Count count)
      : core_(request.core), comm_(request.comm.get()), buffer_(datatype, count) {}

  int start(Request& request) override;
  /// Instead of start(): receives a message that has been matched; null: from MPI_PROC_NULL.
  void receive(pml::Message* message) noexcept;
  int finish(MPI_Status& status) override;
  int cancel(bool complete) override;
  int progress() noexcept override { return 0; }  // never polled
  void told() noexcept override { buffer_.told(); }
  [[nodiscard]] pml::Request* awaited() noexcept override { return &core_; }
  [[nodiscard]] ManagedBuffer* managed() noexcept override { return &buffer_; }

 private:
  void from_nobody() noexcept;

  pml::Request& core_;
  const Comm* comm_;
  ManagedBuffer buffer_;
};

/// A request, not started, for a receive of `datatype` on `comm`; null with the error class in `rc` where
/// the library can provide no buffer for the type.
[[nodiscard]] Request* make_managed(Datatype& datatype, MPI_Count count, Ref<Comm> comm, int* rc);

}  // namespace starling::mpi

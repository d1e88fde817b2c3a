// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Duplicating a communicator, blocking or not. Layer: mpi. MPI 5.0 section 7.4.2.
///
/// The call takes everything from the parent as it is then: attributes, error handler, topology; hints do not
/// pass on. What is left is one small broadcast of the new id, a schedule of the collective engine; when it
/// has ended, this process makes its communicator.
///
/// Threads:   under the runtime's lock.
/// Ownership: the caller keeps parent and object alive until the end.
/// Errors:    MPI error classes; a copy callback that refuses fails the duplication here, after the
///            broadcast, so that the other processes are not left waiting.

#include "mpi/attribute/attributes.hpp"
#include "mpi/coll/execution.hpp"
#include "mpi/creation/factory.hpp"

namespace starling::mpi {

class Duplication {
 public:
  /// Runs the copy callbacks. `info` are the new communicator's hints, or empty.
  Duplication(Comm& parent, Ref<Info> info, Comm::Form form);
  /// Takes part in the broadcast; may end at once.
  void start();
  /// Goes as far as it can. True when the broadcast has ended.
  bool advance() noexcept { return execution_.advance(); }
  /// For hang help.
  [[nodiscard]] std::string state() const { return parent_.label() + ": " + execution_.state(); }
  /// Whether finish() runs callbacks: it deletes the attributes of a copy that was refused.
  [[nodiscard]] bool calls_program() const noexcept { return failure_ != 0; }
  /// Makes the communicator; once, after the end.
  [[nodiscard]] Made finish();

 private:
  Comm& parent_;
  Ref<Info> info_;
  Comm::Form form_;
  AttributeSet attributes_;
  Ref<Errhandler> errhandler_;
  std::shared_ptr<const Topology> topology_;
  ContextId id_;
  int failure_;  ///< MPI_SUCCESS, or why the communicator will not be made
  coll::Execution execution_;
};

}  // namespace starling::mpi

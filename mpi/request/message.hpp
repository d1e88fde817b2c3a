// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A message that MPI_Mprobe has matched and nobody has received yet. Layer: mpi. MPI 5.0
/// section 3.8.2.
///
/// Threads: under the runtime's lock.
/// Ownership: keeps its communicator alive.

#include "frameworks/pml/pml.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/handle.hpp"

namespace starling::mpi {

class Message final : public Object {
 public:
  Message(Ref<Comm> on, pml::Message* matched) noexcept : comm(std::move(on)), message(matched) {}
  Ref<Comm> comm;
  pml::Message* message;  ///< null for MPI_MESSAGE_NO_PROC
};

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Collectives whose send and receive buffer are the same memory. Layer: mpi.
/// MPI 5.0 sections 2.3 and 6.2.
///
/// Programs make this error by leaving MPI_IN_PLACE out, so usually every member makes it. Without a check
/// the results depend on the algorithm. Only what is wrong beyond doubt is refused: two blocks that begin at
/// one address with the same layout. Finding other overlaps would cost more than it is worth.
///
/// Threads: pure functions.

#include <string>
#include <utility>

#include "mpi.h"
#include "mpi/coll/arguments.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/error.hpp"

namespace starling::mpi::coll {

/// Whether both are not empty and begin at the same byte, with the same layout.
[[nodiscard]] inline bool same_memory(const Buffer& a, const Buffer& b) noexcept {
  return a.base == b.base && a.bytes != 0 && b.bytes != 0 && a.layout == b.layout;
}

/// Whether the block that this process sends to itself already lies where it is to be received.
[[nodiscard]] inline bool sends_to_itself(const Alltoall& asked, const Comm& comm) noexcept {
  const int rank = static_cast<int>(comm.rank());
  return !asked.in_place && !comm.inter() && same_memory(asked.send.block(rank), asked.receive.block(rank));
}

/// MPI_ERR_BUFFER; `in_place` names the argument that could be MPI_IN_PLACE, null if none could.
[[nodiscard, gnu::cold, gnu::noinline]] inline int aliased(const char* in_place) {
  std::string text = "sendbuf and recvbuf are the same memory, expected two buffers";
  if (in_place != nullptr) text += std::string(", or MPI_IN_PLACE for ") + in_place;
  return error(MPI_ERR_BUFFER, std::move(text));
}

}  // namespace starling::mpi::coll

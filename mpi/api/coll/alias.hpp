// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Collectives whose send and receive buffer are the same memory. Layer: mpi.
/// MPI 5.0 sections 2.3 and 6.2.
///
/// It is an error that every member makes alike, as a rule by leaving MPI_IN_PLACE out. Without a check the
/// results depend on the algorithm. Only what is wrong beyond doubt is refused: two blocks that begin at one
/// address with the same layout. Other overlaps would cost more than they are worth to find.
///
/// Threads: pure functions.

#include <string>
#include <utility>

#include "mpi.h"
#include "mpi/coll/arguments.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/error.hpp"

namespace starling::mpi::coll {

/// The first byte of one is the first byte of the other; both have one.
[[nodiscard]] inline bool same_memory(const Buffer& a, const Buffer& b) noexcept {
  return a.base == b.base && a.bytes != 0 && b.bytes != 0 && a.layout == b.layout;
}

/// What a process sends to itself stands where it is to be received.
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

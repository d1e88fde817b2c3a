// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The arguments that all reductions of a vector share. Layer: mpi. MPI 5.0 section 6.9.

#include "mpi/api/coll/alias.hpp"
#include "mpi/error.hpp"
#include "mpi/launch/launch.hpp"

namespace starling::mpi::coll {

[[nodiscard]] inline Reduce reduction(const void* sendbuf, void* recvbuf, MPI_Count count,
                                      const Datatype& datatype, const Op& op, int root) {
  Reduce asked;
  asked.send = sendbuf;
  asked.receive = recvbuf;
  asked.count = unsigned_count(count);
  asked.type = view(datatype);
  asked.operation = view(op);
  asked.root = root;
  asked.in_place = sendbuf == MPI_IN_PLACE;
  return asked;
}

/// Whether the result would overwrite the vector. Both have one type, so equal addresses are equal memory.
[[nodiscard]] inline bool overwrites(const Reduce& asked) noexcept {
  return asked.send == asked.receive && asked.count * asked.type.size != 0;
}

}  // namespace starling::mpi::coll

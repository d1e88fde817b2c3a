// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The arguments that all reductions of a vector share. Layer: mpi. MPI 5.0 section 6.9.

#include "mpi/api/coll/launch.hpp"
#include "mpi/error.hpp"

namespace starling::mpi::coll {

/// Two equal buffers are what MPI_IN_PLACE means; programs that break this rule get the result that they
/// expect.
[[nodiscard]] inline Reduce reduction(const void* sendbuf, void* recvbuf, MPI_Count count,
                                      const Datatype& datatype, const Op& op, int root) {
  Reduce asked;
  asked.send = sendbuf;
  asked.receive = recvbuf;
  asked.count = unsigned_count(count);
  asked.type = view(datatype);
  asked.operation = view(op);
  asked.root = root;
  asked.in_place = sendbuf == MPI_IN_PLACE || sendbuf == recvbuf;
  return asked;
}

}  // namespace starling::mpi::coll

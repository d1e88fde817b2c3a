// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The arguments that all gathers share. Layer: mpi. MPI 5.0 sections 6.5 and 6.7.

#include "mpi/api/coll/alias.hpp"
#include "mpi/launch/launch.hpp"

namespace starling::mpi::coll {

/// `root`: 0 where there is none.
[[nodiscard]] inline Gather gathering(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype,
                                      const Blocks& receive, int root) {
  Gather asked;
  asked.send = sendbuf;
  asked.count = unsigned_count(sendcount);
  asked.type = view(sendtype);
  asked.receive = receive;
  asked.root = root;
  asked.in_place = sendbuf == MPI_IN_PLACE;
  return asked;
}

}  // namespace starling::mpi::coll

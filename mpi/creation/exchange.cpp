// SPDX-License-Identifier: BSD-3-Clause
// Small exchanges for making communicators. Layer: mpi.
// Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems",
// 1997.

#include "mpi/creation/exchange.hpp"

#include <cstring>
#include <vector>

#include "mpi.h"
#include "mpi/creation/messages.hpp"

namespace starling::mpi {

int bcast_bytes(Comm& comm, std::span<std::byte> bytes, std::uint32_t root) {
  const std::uint32_t size = comm.size();
  const Messages step{comm, comm.next_collective_tag(), "a broadcast"};
  const std::uint32_t relative = (comm.rank() + size - root) % size;
  std::uint32_t mask = 1;
  for (; mask < size; mask <<= 1) {
    if ((relative & mask) == 0) continue;
    const std::uint32_t parent = (relative - mask + root) % size;
    if (const int rc = step.receive(parent, bytes); rc != MPI_SUCCESS) return rc;
    break;
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (relative + mask >= size) continue;
    const std::uint32_t child = (relative + mask + root) % size;
    if (const int rc = step.send(child, bytes); rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int allgather_bytes(Comm& comm, std::span<const std::byte> mine, std::span<std::byte> all) {
  const std::uint32_t size = comm.size();
  const std::uint32_t rank = comm.rank();
  const std::size_t each = mine.size();
  const Messages step{comm, comm.next_collective_tag(), "an allgather"};
  std::vector<std::byte> rotated(each * size);  // block i belongs to rank (rank + i) mod size
  std::memcpy(rotated.data(), mine.data(), each);
  for (std::uint32_t have = 1; have < size; have <<= 1) {
    const std::uint32_t blocks = std::min(have, size - have);
    const int rc = step.swap((rank + size - have) % size, {rotated.data(), each * blocks},
                             (rank + have) % size, {rotated.data() + each * have, each * blocks});
    if (rc != MPI_SUCCESS) return rc;
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    std::memcpy(all.data() + each * ((rank + i) % size), rotated.data() + each * i, each);
  }
  return MPI_SUCCESS;
}

int barrier(Comm& comm) {
  const std::uint32_t size = comm.size();
  const Messages step{comm, comm.next_collective_tag(), "a barrier"};
  for (std::uint32_t distance = 1; distance < size; distance <<= 1) {
    const int rc = step.swap((comm.rank() + distance) % size, {}, (comm.rank() + size - distance) % size, {});
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

}  // namespace starling::mpi

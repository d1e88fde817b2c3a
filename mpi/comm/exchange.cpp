// SPDX-License-Identifier: BSD-3-Clause
// Small exchanges for making communicators. Layer: mpi.
// Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems",
// 1997.

#include "mpi/comm/exchange.hpp"

#include <cstring>
#include <vector>

#include "mpi.h"
#include "mpi/error.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

void fill(pml::Request& request, Comm& comm, std::uint32_t rank, Tag tag, const void* data,
          std::size_t bytes) {
  request.context = &comm.collective_context();
  request.rank = Rank{static_cast<std::int32_t>(rank)};
  request.tag = tag;
  request.buffer.base = const_cast<void*>(data);
  request.buffer.bytes = bytes;
}

int outcome(const pml::Request& request, const char* what) {
  if (request.status.fault == pml::Fault::none) return MPI_SUCCESS;
  return error(MPI_ERR_OTHER, std::string("a message of ") + what + " could not be exchanged with rank " +
                                  std::to_string(to_int(request.rank)));
}

/// One tag of one exchange: blocking messages on the collective channel.
struct Step {
  Comm& comm;
  Tag tag;
  const char* what;

  [[nodiscard]] int send(std::uint32_t to, const void* data, std::size_t bytes) const {
    pml::Request request;
    fill(request, comm, to, tag, data, bytes);
    Runtime::get()->pml().isend(request);
    Runtime::get()->wait([&] { return request.complete.load(std::memory_order_acquire); });
    return outcome(request, what);
  }
  [[nodiscard]] int receive(std::uint32_t from, void* data, std::size_t bytes) const {
    pml::Request request;
    request.receive = true;
    fill(request, comm, from, tag, data, bytes);
    Runtime::get()->pml().irecv(request);
    Runtime::get()->wait([&] { return request.complete.load(std::memory_order_acquire); });
    return outcome(request, what);
  }
  [[nodiscard]] int swap(std::uint32_t to, const void* out, std::uint32_t from, void* in,
                         std::size_t bytes) const {
    pml::Request incoming;
    incoming.receive = true;
    fill(incoming, comm, from, tag, in, bytes);
    Runtime::get()->pml().irecv(incoming);
    const int sent = send(to, out, bytes);
    Runtime::get()->wait([&] { return incoming.complete.load(std::memory_order_acquire); });
    return sent != MPI_SUCCESS ? sent : outcome(incoming, what);
  }
};

}  // namespace

int bcast_bytes(Comm& comm, std::span<std::byte> bytes, std::uint32_t root) {
  const std::uint32_t size = comm.size();
  const Step step{comm, comm.next_collective_tag(), "a broadcast"};
  const std::uint32_t relative = (comm.rank() + size - root) % size;
  std::uint32_t mask = 1;
  for (; mask < size; mask <<= 1) {
    if ((relative & mask) == 0) continue;
    const std::uint32_t parent = (relative - mask + root) % size;
    if (const int rc = step.receive(parent, bytes.data(), bytes.size()); rc != MPI_SUCCESS) return rc;
    break;
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (relative + mask >= size) continue;
    const std::uint32_t child = (relative + mask + root) % size;
    if (const int rc = step.send(child, bytes.data(), bytes.size()); rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int allgather_bytes(Comm& comm, std::span<const std::byte> mine, std::span<std::byte> all) {
  const std::uint32_t size = comm.size();
  const std::uint32_t rank = comm.rank();
  const std::size_t each = mine.size();
  const Step step{comm, comm.next_collective_tag(), "an allgather"};
  std::vector<std::byte> rotated(each * size);  // block i belongs to rank (rank + i) mod size
  std::memcpy(rotated.data(), mine.data(), each);
  for (std::uint32_t have = 1; have < size; have <<= 1) {
    const std::uint32_t blocks = std::min(have, size - have);
    const int rc = step.swap((rank + size - have) % size, rotated.data(), (rank + have) % size,
                             rotated.data() + each * have, each * blocks);
    if (rc != MPI_SUCCESS) return rc;
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    std::memcpy(all.data() + each * ((rank + i) % size), rotated.data() + each * i, each);
  }
  return MPI_SUCCESS;
}

int barrier(Comm& comm) {
  const std::uint32_t size = comm.size();
  const Step step{comm, comm.next_collective_tag(), "a barrier"};
  for (std::uint32_t distance = 1; distance < size; distance <<= 1) {
    const int rc = step.swap((comm.rank() + distance) % size, nullptr, (comm.rank() + size - distance) % size,
                             nullptr, 0);
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

}  // namespace starling::mpi

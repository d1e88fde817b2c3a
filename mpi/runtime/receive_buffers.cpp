// SPDX-License-Identifier: BSD-3-Clause
// The memory of the receive buffers that the library provides, and who has kept some. Layer: mpi.

#include "mpi/runtime/receive_buffers.hpp"

#include <cstdlib>
#include <new>
#include <string>

#include "core/log.hpp"
#include "mpi/runtime/params.hpp"

namespace starling::mpi {

void ReceiveBuffers::open() noexcept {
  tried_ = true;
  const auto bytes = static_cast<std::size_t>(params_.integer(kRecvPool)) / shm::BufferPool::kBlock *
                     shm::BufferPool::kBlock;
  if (bytes == 0) return;
  try {
    auto shared = memory_.offer(bytes);
    std::byte* const range =
        shared ? *shared : static_cast<std::byte*>(std::aligned_alloc(shm::BufferPool::kBlock, bytes));
    if (range != nullptr) pool_.open(range, bytes, shared.has_value());
  } catch (const std::bad_alloc&) {
    log::info("receive buffers: ordinary memory, since there was none for the pool's own tables");
  }
}

void ReceiveBuffers::report_kept() const {
  std::size_t count = 0, bytes = 0;
  const shm::BufferPool::Buffer* first = nullptr;
  pool_.each([&](const shm::BufferPool::Buffer& buffer) {
    if (!buffer.delivered) return;
    if (first == nullptr) first = &buffer;
    ++count;
    bytes += buffer.bytes;
  });
  if (first == nullptr) return;
  log::warning(
      "the program has not given back " + std::to_string(count) + " receive buffer" +
      (count == 1 ? "" : "s") + " of the library's (" + std::to_string(bytes) +
      " bytes) when MPI ends, expected MPIX_Release_recv_buf for each; the first is of a message of " +
      std::to_string(first->bytes) + " bytes from rank " + std::to_string(first->source) + " with tag " +
      std::to_string(first->tag));
}

}  // namespace starling::mpi

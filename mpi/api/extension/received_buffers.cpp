// SPDX-License-Identifier: BSD-3-Clause
// Getting and releasing the receive buffers that the library provides. Layer: mpi. See include/mpix.h and
// docs/design/managed-buffers.md.

#include <array>
#include <cstdio>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/managed/buffer.hpp"
#include "mpi/request/request.hpp"
#include "mpi/status.hpp"

namespace starling::mpi::api {
namespace {

std::string text_of(const void* address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%p", address);
  return text.data();
}

}  // namespace

int Get_recv_buf(MPI_Status status, void** recv_buf) {
  shm::BufferPool::Buffer* found = nullptr;
  if (const int rc = find_buffer(status, &found); rc != MPI_SUCCESS) return rc;
  *recv_buf = found != nullptr ? found->shown : nullptr;
  return MPI_SUCCESS;
}

int Release_recv_buf(MPI_Status status, void* recv_buf) {
  shm::BufferPool::Buffer* found = nullptr;
  if (const int rc = find_buffer(status, &found); rc != MPI_SUCCESS) return rc;
  const void* const expected = found != nullptr ? found->shown : nullptr;
  if (recv_buf != expected) {
    return error(MPI_ERR_BUFFER, "recv_buf is " + text_of(recv_buf) + ", expected " + text_of(expected) +
                                     ", the buffer of this status");
  }
  if (found != nullptr) Runtime::get()->receive_buffers().pool().give({buffer_of(status)});
  return MPI_SUCCESS;
}

int Request_get_recv_buf(MPI_Request request, void** recv_buf) {
  Request* const found = request == MPI_REQUEST_NULL ? nullptr : find_request(request);
  if (found == nullptr) {
    return error(
        MPI_ERR_REQUEST,
        "request is not a live request (one that is not persistent ends with MPI_Wait: ask its status)");
  }
  ManagedBuffer* const buffer = found->operation != nullptr ? found->operation->managed() : nullptr;
  if (buffer == nullptr) return error(MPI_ERR_REQUEST, "request is not a receive with MPIX_BUFFER_LIBRARY");
  if (!found->done()) {
    return error(MPI_ERR_REQUEST, found->active ? "request is active, expected one that is complete"
                                                : "request has not been started yet");
  }
  return buffer->address(recv_buf);
}

}  // namespace starling::mpi::api

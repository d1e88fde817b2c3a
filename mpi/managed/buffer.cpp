// SPDX-License-Identifier: BSD-3-Clause
// What is hard: a buffer has one owner at any time, the receive or the program, whatever becomes of the
// request.
// Layer: mpi. Design: docs/design/managed-buffers.md.

#include "mpi/managed/buffer.hpp"

#include <limits>
#include <string>
#include <utility>

#include "core/expects.hpp"
#include "mpi/error.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/status.hpp"
#define MPIX_CONSTANTS_ONLY
#include "mpix.h"
#undef MPIX_CONSTANTS_ONLY

namespace starling::mpi {
namespace {

using Pool = shm::BufferPool;

Pool& the_pool() noexcept { return Runtime::get()->receive_buffers().pool(); }

}  // namespace

ManagedBuffer::ManagedBuffer(Datatype& datatype, MPI_Count count)
    : datatype_(Ref<Datatype>::share(&datatype)),
      most_(count == MPIX_COUNT_ANY ? std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                                    : datatype.size() * static_cast<std::uint64_t>(count)) {
  if (datatype.size() == 0) most_ = 0;
}

ManagedBuffer::~ManagedBuffer() {
  if (!told_) give_back(handle_);
  give_back(before_);
}

void ManagedBuffer::give_back(Handle& handle) noexcept { the_pool().give(std::exchange(handle, {})); }

pml::Buffer ManagedBuffer::post() noexcept {
  give_back(before_);
  if (!told_) before_ = handle_;
  handle_ = {};
  told_ = cancelled_ = false;
  return {nullptr, most_, 0, this};
}

bool ManagedBuffer::place(pml::Buffer& buffer, std::uint64_t bytes) noexcept {
  const Datatype& type = *datatype_;
  const std::uint64_t elements = (bytes - 1) / type.size() + 1;
  const std::uint64_t span =
      type.contiguous() ? bytes : static_cast<std::uint64_t>(type.span_bytes(elements));
  handle_ = the_pool().take(static_cast<std::size_t>(span));
  Pool::Buffer* const taken = the_pool().find(handle_);
  if (taken == nullptr) return false;
  if (type.contiguous()) {
    buffer = {taken->memory, bytes, 0, nullptr};
    return true;
  }
  taken->shown = taken->memory - type.gap(elements);
  buffer = {taken->shown, bytes, elements, &type};
  return true;
}

bool ManagedBuffer::adopt(pml::Buffer& buffer, std::uint64_t handle, std::uint64_t bytes) noexcept {
  if (!datatype_->contiguous()) return false;
  Pool::Buffer* const taken = the_pool().find({handle});
  handle_ = {handle};
  taken->bytes = static_cast<std::size_t>(bytes);
  buffer = {taken->memory, bytes, 0, nullptr};
  return true;
}

bool ManagedBuffer::keep(pml::Buffer& buffer, std::byte* memory, std::uint64_t bytes,
                         HeldBytes& held) noexcept {
  if (!datatype_->contiguous()) return false;
  handle_ = the_pool().lend(memory, static_cast<std::size_t>(bytes), held);
  if (!handle_) return false;
  buffer = {memory, bytes, 0, nullptr};
  return true;
}

shm::BufferPool& ManagedBuffer::pool() noexcept { return the_pool(); }

void ManagedBuffer::pack(const void*, std::uint64_t, std::uint64_t, std::byte*, std::size_t) const noexcept {
  expects(false, "a receive buffer of the library's was packed from");
}

void ManagedBuffer::unpack(void*, std::uint64_t, std::uint64_t, const std::byte*,
                           std::size_t) const noexcept {
  expects(false, "a receive buffer of the library's was used before it was placed");
}

void ManagedBuffer::describe(const pml::Status& from, MPI_Status& to) noexcept {
  cancelled_ = from.cancelled;
  if (from.cancelled || from.bytes == 0) give_back(handle_);
  if (Pool::Buffer* const buffer = the_pool().find(handle_)) {
    buffer->source = to_int(from.source);
    buffer->tag = to_int(from.tag);
  }
  set_managed(to, handle_.bits);
}

void ManagedBuffer::told() noexcept {
  told_ = true;
  if (Pool::Buffer* const buffer = the_pool().find(handle_)) buffer->delivered = true;
}

int ManagedBuffer::address(void** to) const {
  if (cancelled_) return error(MPI_ERR_REQUEST, "the receive was cancelled, and has no buffer");
  const Pool::Buffer* const buffer = the_pool().find(handle_);
  if (handle_ && buffer == nullptr)
    return error(MPI_ERR_REQUEST, "the buffer of the last receive has been released");
  *to = buffer != nullptr ? buffer->shown : nullptr;
  return MPI_SUCCESS;
}

int find_buffer(const MPI_Status& status, Pool::Buffer** found) {
  *found = nullptr;
  if (!managed(status)) {
    // Cancelled ones of ordinary receives, too: what is wrong is the receive.
    return error(
        MPI_ERR_ARG,
        "status is not of a receive with MPIX_BUFFER_LIBRARY, expected the status that completed one");
  }
  if (cancelled(status))
    return error(MPI_ERR_ARG, "status is of a receive that was cancelled, which has no buffer");
  const Pool::Handle handle{buffer_of(status)};
  if (!handle) return MPI_SUCCESS;
  *found = the_pool().find(handle);
  if (*found != nullptr) return MPI_SUCCESS;
  return error(MPI_ERR_ARG,
               "status is of a receive whose buffer has been released, or went back to the library with its "
               "request (MPI_STATUS_IGNORE, MPI_Request_free)");
}

}  // namespace starling::mpi

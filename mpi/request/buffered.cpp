// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends. What is hard: a message may leave long after its MPI_Bsend, so the space and the request
// belong to the buffer. Layer: mpi.

#include "mpi/request/buffered.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "mpi.h"
#include "mpi/error.hpp"
#include "mpi/request/request.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/session/session.hpp"

namespace starling::mpi {
namespace {

constexpr std::size_t kNoRoom = static_cast<std::size_t>(-1);
constexpr std::size_t kAlignment = 16;

}  // namespace

BsendBuffer::~BsendBuffer() = default;

void BsendBuffer::attach(void* base, std::size_t bytes) {
  attached_ = true;
  automatic_ = base == MPI_BUFFER_AUTOMATIC;
  base_ = static_cast<std::byte*>(base);
  bytes_ = bytes;
}

void BsendBuffer::flush() {
  const std::uint64_t number = newest_;
  Runtime::get()->waits().wait("the wait for buffered messages", [this, number] { return flushed(number); });
}

bool BsendBuffer::flushed(std::uint64_t number) {
  reclaim();
  return std::none_of(messages_.begin(), messages_.end(), [number](const std::unique_ptr<Message>& message) {
    return message->number <= number;
  });
}

void BsendBuffer::detach(void** base, std::size_t* bytes) {
  // While this thread waits, another one may send; a detached buffer must be empty.
  while (!messages_.empty()) flush();
  *base = base_;
  *bytes = automatic_ ? 0 : bytes_;
  attached_ = automatic_ = false;
  base_ = nullptr;
  bytes_ = 0;
}

void BsendBuffer::reclaim() {
  std::erase_if(messages_, [](const std::unique_ptr<Message>& message) {
    return message->request.complete.load(std::memory_order_acquire);
  });
}

std::size_t BsendBuffer::find_room(std::size_t bytes) const noexcept {
  std::size_t free_from = 0;
  for (const auto& message : messages_) {
    if (message->offset >= free_from + bytes) return free_from;
    // One without bytes may stand behind a message that begins where it does, and ends before that one.
    free_from = std::max(free_from, message->offset + message->bytes);
  }
  return free_from + bytes <= bytes_ ? free_from : kNoRoom;
}

int BsendBuffer::send(const pml::Buffer& data, Comm& comm, Rank dest, Tag tag) {
  auto message = std::make_unique<Message>();
  message->bytes = (static_cast<std::size_t>(data.bytes) + kAlignment - 1) / kAlignment * kAlignment;
  reclaim();
  std::byte* to = nullptr;
  if (automatic_) {
    message->own = std::make_unique<std::byte[]>(message->bytes);
    to = message->own.get();
  } else {
    message->offset = find_room(message->bytes);
    if (message->offset == kNoRoom) {
      Runtime::get()->polling().progress();
      reclaim();
      message->offset = find_room(message->bytes);
    }
    if (!attached_ || message->offset == kNoRoom) {
      return error(MPI_ERR_BUFFER,
                   "a buffered message of " + std::to_string(data.bytes) + " bytes finds no room in the " +
                       (attached_ ? "attached buffer of " + std::to_string(bytes_) + " bytes"
                                  : std::string("buffer: none is attached (MPI_Buffer_attach)")));
    }
    to = base_ + message->offset;
  }
  if (data.layout != nullptr) {
    data.layout->pack(data.base, data.count, 0, to, data.bytes);
  } else if (data.bytes != 0) {
    std::memcpy(to, data.base, data.bytes);
  }
  message->number = ++newest_;
  message->comm = Ref<Comm>::share(&comm);
  message->request.context = &comm.context();
  message->request.rank = dest;
  message->request.tag = tag;
  message->request.buffer.base = to;
  message->request.buffer.bytes = data.bytes;
  pml::Request& request = message->request;
  const auto place = std::upper_bound(messages_.begin(), messages_.end(), message,
                                      [](const auto& a, const auto& b) { return a->offset < b->offset; });
  messages_.insert(place, std::move(message));
  Runtime::get()->pml().isend(request);
  return MPI_SUCCESS;
}

const std::shared_ptr<BsendBuffer>& process_bsend_buffer() {
  static auto* const buffer = new std::shared_ptr<BsendBuffer>(std::make_shared<BsendBuffer>());
  return *buffer;
}

BsendBuffer& bsend_buffer_of(const Comm& comm) {
  if (comm.bsend_buffer != nullptr && comm.bsend_buffer->attached()) return *comm.bsend_buffer;
  if (comm.session && comm.session->bsend_buffer != nullptr && comm.session->bsend_buffer->attached())
    return *comm.session->bsend_buffer;
  return *process_bsend_buffer();
}

int start_buffered(Request& request) {
  BsendBuffer& buffer = bsend_buffer_of(*request.comm);
  const int rc = buffer.send(request.core.buffer, *request.comm, request.core.rank, request.core.tag);
  request.core.complete.store(true, std::memory_order_release);
  return rc;
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Buffered sends: the attached buffer and the messages that live in it. Layer: mpi. MPI 5.0
/// section 3.6.
///
/// Messages are packed into the user's buffer, first fit, and sent from there. The space of a message is free
/// again once it has left.
/// Threads: under the runtime's lock; waiting releases it.
/// Units:     bytes. Errors: MPI_ERR_BUFFER when the buffer has no room.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "frameworks/pml/request.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"

namespace starling::mpi {

/// One attached buffer (of the process, a communicator or a session).
class BsendBuffer {
 public:
  /// No buffer: everything but attach() fails.
  BsendBuffer() = default;
  ~BsendBuffer();

  [[nodiscard]] bool attached() const noexcept { return attached_; }
  /// `base` MPI_BUFFER_AUTOMATIC: the library provides what is needed.
  void attach(void* base, std::size_t bytes);
  /// Waits until every message has left, then gives the buffer back.
  void detach(void** base, std::size_t* bytes);
  /// Waits until every message has left that is in the buffer now.
  void flush();
  /// Number of the latest message, for flushed().
  [[nodiscard]] std::uint64_t newest() const noexcept { return newest_; }
  /// Whether every message up to this one has left. Does not progress.
  [[nodiscard]] bool flushed(std::uint64_t number);

  /// Packs and sends; on return the user's data may be reused.
  [[nodiscard]] int send(const pml::Buffer& data, Comm& comm, Rank dest, Tag tag);

 private:
  struct Message {
    std::uint64_t number = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::unique_ptr<std::byte[]> own;  // MPI_BUFFER_AUTOMATIC
    Ref<Comm> comm;
    pml::Request request;
  };
  void reclaim();
  [[nodiscard]] std::size_t find_room(std::size_t bytes) const noexcept;

  bool attached_ = false;
  bool automatic_ = false;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t newest_ = 0;
  std::vector<std::unique_ptr<Message>> messages_;  // ascending offsets
};

/// The buffer of MPI_Buffer_attach.
[[nodiscard]] const std::shared_ptr<BsendBuffer>& process_bsend_buffer();
/// The buffer that a buffered send on this communicator uses: the communicator's, its session's, or the
/// process's, the first one that is attached.
[[nodiscard]] BsendBuffer& bsend_buffer_of(const Comm& comm);

}  // namespace starling::mpi

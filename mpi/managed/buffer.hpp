// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The buffer of one receive that the library provides. Layer: mpi. See
/// docs/design/managed-buffers.md.
///
/// Threads:   under the runtime's lock.
/// Ownership: a buffer that the program has not been told of (MPI_STATUS_IGNORE, a cancelled or failed
///            receive, a request that was freed) goes back with this object; any other is the program's until
///            it releases it.
/// Errors:    MPI error classes, with the reason noted.
/// Units:     bytes.

#include <cstdint>

#include "frameworks/pml/layout.hpp"
#include "frameworks/pml/request.hpp"
#include "frameworks/shm/memory/buffer_pool.hpp"
#include "mpi.h"
#include "mpi/datatype/datatype.hpp"

namespace starling::mpi {

class ManagedBuffer final : private pml::Layout, private pml::Placement {
 public:
  /// `count`: an upper bound, or MPIX_COUNT_ANY.
  ManagedBuffer(Datatype& datatype, MPI_Count count);
  ~ManagedBuffer();
  ManagedBuffer(const ManagedBuffer&) = delete;
  ManagedBuffer& operator=(const ManagedBuffer&) = delete;

  /// The buffer with which a receive is posted. With a persistent request the buffer of the time before last
  /// goes back then, if the program has not been told of it.
  [[nodiscard]] pml::Buffer post() noexcept;
  /// The receive has ended: writes into `to` what a status says besides source, tag and length.
  void describe(const pml::Status& from, MPI_Status& to) noexcept;
  /// The program has the status, and will give the buffer back.
  void told() noexcept;
  /// Stores the address of the last receive's buffer, null if it has none. Else an error class, with the
  /// reason noted.
  [[nodiscard]] int address(void** to) const;

 private:
  using Handle = shm::BufferPool::Handle;

  [[nodiscard]] Placement* placement() const noexcept override { return const_cast<ManagedBuffer*>(this); }
  [[nodiscard]] bool place(pml::Buffer& buffer, std::uint64_t bytes) noexcept override;
  [[nodiscard]] bool adopt(pml::Buffer& buffer, std::uint64_t handle, std::uint64_t bytes) noexcept override;
  [[nodiscard]] bool keep(pml::Buffer& buffer, std::byte* memory, std::uint64_t bytes,
                          HeldBytes& held) noexcept override;
  [[nodiscard]] shm::BufferPool& pool() noexcept override;
  // Called only for data that have been placed; the datatype then does the work.
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept override { return datatype_->packed_bytes(); }
  void pack(const void*, std::uint64_t, std::uint64_t, std::byte*, std::size_t) const noexcept override;
  void unpack(void*, std::uint64_t, std::uint64_t, const std::byte*, std::size_t) const noexcept override;

  static void give_back(Handle& handle) noexcept;

  Ref<Datatype> datatype_;
  std::uint64_t most_;
  Handle handle_;  ///< of the last receive
  Handle before_;  ///< of the one before, if nobody was told
  bool told_ = false;
  bool cancelled_ = false;
};

/// The buffer that a status of the program stands for, for MPIX_Get_recv_buf and MPIX_Release_recv_buf. Null
/// in `found` with MPI_SUCCESS: the receive has none. Else an error class, with the reason noted.
[[nodiscard]] int find_buffer(const MPI_Status& status, shm::BufferPool::Buffer** found);

}  // namespace starling::mpi

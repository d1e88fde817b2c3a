// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The pool of receive buffers that the library provides. Layer: mpi. See
/// docs/design/managed-buffers.md.
///
/// Threads:   under the runtime's lock.
/// Ownership: a buffer is its receive's, then the program's, until it is given back; what a program keeps
///            stays valid to the end of the process.
/// Errors:    where others cannot map the memory it is ordinary memory.
/// Units:     bytes.

#include "frameworks/shm/memory/buffer_pool.hpp"
#include "mpi/runtime/allocated_memory.hpp"
#include "params/registry.hpp"

namespace starling::mpi {

class ReceiveBuffers {
 public:
  ReceiveBuffers(const params::Registry& params, AllocatedMemory& memory) noexcept
      : params_(params), memory_(memory) {}
  ReceiveBuffers(const ReceiveBuffers&) = delete;
  ReceiveBuffers& operator=(const ReceiveBuffers&) = delete;

  /// Its memory is there from the first call on.
  [[nodiscard]] shm::BufferPool& pool() noexcept {
    if (!tried_) [[unlikely]]
      open();
    return pool_;
  }
  /// Warns of the buffers that the program has not given back.
  void report_kept() const;

 private:
  void open() noexcept;

  const params::Registry& params_;
  AllocatedMemory& memory_;
  shm::BufferPool pool_;
  bool tried_ = false;
};

}  // namespace starling::mpi

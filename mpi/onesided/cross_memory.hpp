// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Copies between this process and another one's private memory, by the kernel. Layer: mpi.
/// docs/design/onesided.md
///
/// Elements of any type on both sides; the other process does nothing, and need not be in MPI.
///
/// Threads:   any; try_out() under the runtime's lock.
/// Errors:    MPI error classes: MPI_ERR_PROC_ABORTED if the process has ended, MPI_ERR_RMA_RANGE if its
///            memory is not there or read-only.
/// Units:     bytes.

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/onesided/transfer.hpp"

namespace starling::mpi {

enum class Direction : std::uint8_t { put, get };

/// A number in this process's memory, by which others find out whether they can read and write it.
struct Probe {
  std::uint64_t address = 0;
  std::uint64_t value = 0;
};
[[nodiscard]] Probe own_probe() noexcept;

/// Another process of this node.
class CrossMemory {
 public:
  explicit CrossMemory(pid_t pid) noexcept : pid_(pid) {}
  /// Of a target of this node.
  [[nodiscard]] static CrossMemory of(const Target& target) noexcept;

  /// 0, or why the kernel does not let this process copy there (errno; ESRCH also: it is another process). A
  /// process that was found open is believed to stay so.
  [[nodiscard]] int try_out(const Probe& probe) const noexcept;
  /// All bytes, contiguous on both sides. 0 or errno.
  [[nodiscard]] int move(Direction direction, std::span<std::byte> here,
                         std::uint64_t address) const noexcept;
  /// The same, but to or from several places there, whose bytes are as many as those here. They are used up.
  [[nodiscard]] int move(Direction direction, std::span<std::byte> here,
                         std::span<iovec> there) const noexcept;
  /// As many bytes as both have, between elements here and `count` elements of `type` at `address` there. 0
  /// or errno.
  [[nodiscard]] int move(Direction direction, const Data& here, std::uint64_t address, std::uint64_t count,
                         const Datatype& type) const noexcept;

 private:
  pid_t pid_;
};

/// What an errno of these copies means for the program.
[[nodiscard, gnu::cold]] int copy_error(const Win& win, std::uint32_t rank, int error);

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What an accumulate does to elements that lie in a row, atomically by element. Layer: mpi.
/// docs/design/onesided.md
///
/// Threads:   under the runtime's lock.
/// Errors:    errno of a copy that the kernel has refused; then nothing more is done.
/// Units:     bytes; elements where the name says so.

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/predefined.hpp"
#include "mpi/onesided/window.hpp"
#include "mpi/op/op.hpp"

namespace starling::mpi {

/// One operation on elements of one predefined type, at a target that has a seat.
class Work {
 public:
  /// The largest element: a pair of long double and int.
  static constexpr std::size_t kMostElement = 64;

  Work(const Win& win, std::uint32_t rank, OpCode code, Basic element) noexcept;

  [[nodiscard]] std::size_t extent() const noexcept { return info_.extent; }
  [[nodiscard]] int failed() const noexcept { return failed_; }

  /// `count` elements in a row, the first at this offset of the target's part. `in` is null with MPI_NO_OP;
  /// `out`, if not null, gets what was there.
  void run(std::uint64_t offset, const std::byte* in, std::byte* out, std::uint64_t count) noexcept;

 private:
  friend class GapWork;
  void work(std::byte* at, const std::byte* in, std::byte* out, std::uint64_t count) const noexcept;
  /// What is there is needed, or changes.
  [[nodiscard]] bool reads(const std::byte* out) const noexcept {
    return out != nullptr || kernel_ != nullptr;
  }
  [[nodiscard]] bool writes() const noexcept { return code_ != OpCode::no_op; }
  void copied(std::uint64_t offset, const std::byte* in, std::byte* out, std::uint64_t count) noexcept;
  [[nodiscard]] bool aligned(const void* address) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(address) & (info_.align - 1)) == 0;
  }
  void combine(std::byte* at, const std::byte* in, std::uint64_t count) const noexcept;

  const Win& win_;
  std::uint32_t rank_;
  const Target& target_;
  OpCode code_;
  Basic element_;
  const BasicInfo& info_;
  OpKernel kernel_;
  int failed_ = 0;
};

}  // namespace starling::mpi

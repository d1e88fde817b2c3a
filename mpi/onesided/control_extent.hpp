// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Control words of windows that bring their own memory, and all of small allocated windows, in the
/// memory that the processes of a node share anyway: so such windows cost hardly a system call. Layer: mpi.
/// docs/design/onesided.md
///
/// Threads:   under the runtime's lock.
/// Ownership: the local peers own it together. When the last one has left, the first local peer uses it for
///            its next window of that size, or it is given back; what a dead one held stays.
/// Errors:    Errc::unsupported if this process sees other memory than the first local peer.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/result.hpp"

namespace starling::mpi {

class ControlExtent {
 public:
  /// What the first local peer tells the others. offset 0: there is none.
  struct Offer {
    std::uint64_t offset = 0;
    std::uint64_t nonce = 0;
  };
  /// By the first local peer: memory for `local_peers` local peers, of which the first `cleared` bytes are
  /// zero. None if the segment should not give that much.
  [[nodiscard]] static Offer reserve(std::size_t bytes, std::size_t cleared,
                                     std::uint32_t local_peers) noexcept;
  /// By the first local peer: nobody will join.
  static void cancel(const Offer& offer, std::size_t bytes) noexcept;
  /// By each local peer.
  [[nodiscard]] static Result<ControlExtent> join(const Offer& offer, std::size_t bytes);

  ControlExtent() = default;
  ControlExtent(ControlExtent&& other) noexcept
      : offset_(std::exchange(other.offset_, 0)), bytes_(other.bytes_) {}
  ControlExtent& operator=(ControlExtent&& other) noexcept {
    std::swap(offset_, other.offset_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ControlExtent();

  /// Null: it is none.
  [[nodiscard]] std::byte* data() const noexcept;

 private:
  ControlExtent(std::uint64_t offset, std::size_t bytes) noexcept : offset_(offset), bytes_(bytes) {}

  std::uint64_t offset_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace starling::mpi

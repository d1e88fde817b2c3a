// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Memory of the peer of an endpoint that this process can write to itself: a capability. Layer:
/// framework interface.
///
/// Threads:   as btl::Endpoint.
/// Ownership: the endpoint's; the memory is the peer's, who has said that it may be written to.
/// Ordering:  what was written is visible to who takes a message that was sent afterwards.
/// Errors:    what cannot be mapped is copied by the kernel, or sent as a message.
/// Units:     bytes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace starling::btl {

class Writes {
 public:
  /// Where these bytes of the peer's are mapped here, until the next call; null: they are not, or not yet.
  [[nodiscard]] virtual std::byte* find(std::uint64_t address, std::size_t bytes) noexcept = 0;
  /// Whether the kernel writes there for this process, to any memory. Slow the first time.
  [[nodiscard]] virtual bool may_copy() noexcept = 0;
  /// Has the kernel copy these bytes to the peer's address. False: it could not copy all of them.
  [[nodiscard]] virtual bool copy(std::uint64_t address, std::span<const std::byte> from) noexcept = 0;

  /// Words in memory of the node by which a process lets others write (permit.hpp): zero at first.
  using Permits = std::span<std::atomic<std::uint64_t>>;
  [[nodiscard]] virtual Permits own_permits() noexcept = 0;
  [[nodiscard]] virtual Permits its_permits() noexcept = 0;

 protected:
  ~Writes() = default;
};

}  // namespace starling::btl

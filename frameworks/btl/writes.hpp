// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Memory of the peer of an endpoint that this process can write to itself: a capability. Layer:
/// framework interface.
///
/// Threads:   as btl::Endpoint.
/// Ownership: the endpoint's; the memory is the peer's, who has said that it may be written to.
/// Ordering:  what was written is visible to who takes a message that was sent afterwards.
/// Errors:    what cannot be mapped is written another way.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>

namespace starling::btl {

class Writes {
 public:
  /// Where these bytes of the peer's are mapped here, until the next call; null: they are not, or not yet.
  [[nodiscard]] virtual std::byte* find(std::uint64_t address, std::size_t bytes) noexcept = 0;

 protected:
  ~Writes() = default;
};

}  // namespace starling::btl

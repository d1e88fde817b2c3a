// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A message from a user's buffer, contiguous or not. Layer: framework (pml).
/// Threads: the pml's. Ownership: borrows. Errors: flow control only. Units: bytes.

#include <cstddef>
#include <cstdint>
#include <span>

#include "frameworks/btl/btl.hpp"
#include "frameworks/pml/layout.hpp"

namespace starling::pml {

/// Header and payload; packed into the transport's memory if the buffer is not contiguous.
[[nodiscard]] Post put(btl::Endpoint& endpoint, std::span<const std::byte> header, const Buffer& buffer,
                       std::uint64_t offset, std::size_t bytes) noexcept;

}  // namespace starling::pml

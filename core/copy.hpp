// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Copying payloads, most of which are a few bytes long. Layer: core.
/// Threads: any. Errors: none. Units: bytes.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace starling {

/// memcpy without the call for up to 32 bytes; null pointers are fine where `bytes` is 0.
inline void copy_payload(void* to, const std::byte* from, std::size_t bytes) noexcept {
  auto* const out = static_cast<std::byte*>(to);
  if (bytes > 32) {
    std::memcpy(out, from, bytes);
  } else if (bytes > 16) {  // two pieces that overlap where they must
    struct Piece {
      std::uint64_t words[2];
    } first, last;
    std::memcpy(&first, from, 16);
    std::memcpy(&last, from + bytes - 16, 16);
    std::memcpy(out, &first, 16);
    std::memcpy(out + bytes - 16, &last, 16);
  } else if (bytes >= 8) {
    std::uint64_t first, last;
    std::memcpy(&first, from, 8);
    std::memcpy(&last, from + bytes - 8, 8);
    std::memcpy(out, &first, 8);
    std::memcpy(out + bytes - 8, &last, 8);
  } else if (bytes >= 4) {
    std::uint32_t first, last;
    std::memcpy(&first, from, 4);
    std::memcpy(&last, from + bytes - 4, 4);
    std::memcpy(out, &first, 4);
    std::memcpy(out + bytes - 4, &last, 4);
  } else {
    for (std::size_t at = 0; at < bytes; ++at) out[at] = from[at];
  }
}

}  // namespace starling

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Copying payloads, most of which are a few bytes long. Layer: core.
/// Threads: any. Errors: none. Units: bytes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace starling {

/// The first and the last sizeof(Piece) of the bytes, which overlap where there are less than two pieces.
template <class Piece>
inline void copy_both_ends(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  Piece first, last;
  std::memcpy(&first, from, sizeof first);
  std::memcpy(&last, from + bytes - sizeof last, sizeof last);
  std::memcpy(to, &first, sizeof first);
  std::memcpy(to + bytes - sizeof last, &last, sizeof last);
}

/// memcpy without the call for up to 32 bytes; null pointers are fine where `bytes` is 0.
inline void copy_payload(void* to, const std::byte* from, std::size_t bytes) noexcept {
  struct Pair {
    std::uint64_t words[2];
  };
  auto* const out = static_cast<std::byte*>(to);
  if (bytes > 32) {
    std::memcpy(out, from, bytes);
  } else if (bytes > 16) {
    copy_both_ends<Pair>(out, from, bytes);
  } else if (bytes >= 8) {
    copy_both_ends<std::uint64_t>(out, from, bytes);
  } else if (bytes >= 4) {
    copy_both_ends<std::uint32_t>(out, from, bytes);
  } else {
    for (std::size_t at = 0; at < bytes; ++at) out[at] = from[at];
  }
}

/// Copies the bytes of the first cache line last: for a line with a word that others poll. If it were written
/// first, a reader would take the line back while the rest is copied, and writing the word would have to
/// fetch it a second time.
inline void copy_first_line_last(void* to, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64;
  const std::size_t first = kLine - reinterpret_cast<std::uintptr_t>(to) % kLine;
  if (bytes > first) {
    std::memcpy(static_cast<std::byte*>(to) + first, from + first, bytes - first);
    std::atomic_signal_fence(std::memory_order_release);
    bytes = first;
  }
  copy_payload(to, from, bytes);
}

}  // namespace starling

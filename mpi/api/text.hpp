// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Texts that go to a user's fixed-size buffers. Layer: mpi. Threads: pure functions on the caller's
/// memory.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace starling::mpi {

/// Copies at most capacity - 1 characters and ends them with NUL; returns how many were copied.
inline int copy_text(std::string_view text, char* to, std::size_t capacity) noexcept {
  const std::size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
  return static_cast<int>(length);
}

}  // namespace starling::mpi

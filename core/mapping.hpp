// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Ownership of one shared mapping. Layer: core.
///
/// Threads: value type, move-only. Units: bytes. Errors: name descriptor, size and errno.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/result.hpp"

namespace starling {

/// What this process may do with a mapping.
enum class Access : std::uint8_t { read_write, read };

class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    if (this != &other) {
      reset();
      address_ = std::exchange(other.address_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  ~Mapping() { reset(); }

  /// Maps [0, bytes) of `fd` shared. The descriptor may be closed afterwards.
  static Result<Mapping> map(int fd, std::size_t bytes, Access access = Access::read_write);

  /// Zeroed memory of this process and of those that it forks.
  static Result<Mapping> anonymous(std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return address_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] explicit operator bool() const noexcept { return address_ != nullptr; }
  void reset() noexcept;
  /// Leaves the bytes mapped for the life of the process.
  void abandon() noexcept { address_ = nullptr; }

 private:
  Mapping(std::byte* address, std::size_t bytes) noexcept : address_(address), bytes_(bytes) {}
  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace starling

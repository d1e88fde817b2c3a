// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Exposed memory whose key is where it lies: for transports whose accesses need no more. Layer:
/// framework, for btls.
///
/// Threads: value types. Errors: as remote.hpp. Units: bytes.

#include <array>
#include <cstring>
#include <string>

#include "frameworks/btl/remote.hpp"

namespace starling::btl {

struct PlainKey {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

class PlainExposed final : public Exposed {
 public:
  explicit PlainExposed(std::span<const std::byte> memory) noexcept {
    const PlainKey key{reinterpret_cast<std::uintptr_t>(memory.data()), memory.size()};
    std::memcpy(key_.data(), &key, sizeof key);
  }
  [[nodiscard]] std::span<const std::byte> key() const noexcept override { return key_; }

 private:
  std::array<std::byte, sizeof(PlainKey)> key_{};
};

class PlainRegion final : public Region {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Region>> open(std::span<const std::byte> key,
                                                            const char* transport) {
    if (key.size() != sizeof(PlainKey)) {
      return fail(Errc::bad_input, transport,
                  "a key of exposed memory has " + std::to_string(key.size()) + " bytes, expected " +
                      std::to_string(sizeof(PlainKey)) + ": it is another transport's");
    }
    auto made = std::make_unique<PlainRegion>();
    std::memcpy(&made->key_, key.data(), sizeof made->key_);
    return std::unique_ptr<Region>(std::move(made));
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return key_.bytes; }
  /// Where [offset, offset + bytes) lies in its owner.
  [[nodiscard]] std::uint64_t at(std::uint64_t offset, std::size_t bytes) const noexcept {
    expects(offset <= key_.bytes && bytes <= key_.bytes - offset, "an access beyond exposed memory");
    return key_.address + offset;
  }

 private:
  PlainKey key_;
};

/// Where an access to a region of this kind goes.
inline std::uint64_t plain_address(Region& region, std::uint64_t offset, std::size_t bytes) noexcept {
  return static_cast<PlainRegion&>(region).at(offset, bytes);
}

}  // namespace starling::btl

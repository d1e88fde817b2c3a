// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a member of a board says of its call, beside its data, so that others notice if theirs is a
/// different one. Layer: mpi. docs/design/node-collectives.md
///
/// One word, so that a reader compares once. Threads: values. Units: bytes.

#include <cstdint>

namespace starling::mpi::coll::node {

class CallSignature {
 public:
  CallSignature() = default;
  /// `detail`: what else has to be equal: the operation of a reduction, or rounds_detail().
  explicit constexpr CallSignature(std::uint64_t bytes, std::uint8_t detail = 0) noexcept
      : bits_(bytes << 8 | detail) {}
  /// Of a member that has already seen others disagree.
  [[nodiscard]] static constexpr CallSignature disagreement() noexcept {
    return CallSignature(~std::uint64_t{0}, 0xff);
  }

  /// Below 2^56.
  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return bits_ >> 8; }
  [[nodiscard]] constexpr std::uint8_t detail() const noexcept { return static_cast<std::uint8_t>(bits_); }
  [[nodiscard]] constexpr bool broken() const noexcept { return bits_ == ~std::uint64_t{0}; }
  friend constexpr bool operator==(CallSignature, CallSignature) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};

/// How many rounds there will be, as far as a detail can say; never equal to an operation.
[[nodiscard]] constexpr std::uint8_t rounds_detail(std::uint64_t bytes, std::uint64_t most) noexcept {
  const std::uint64_t rounds = bytes <= most ? 1 : (bytes + most - 1) / most;  // a division is slow
  return static_cast<std::uint8_t>(0x80 | (rounds & 0x7f));
}
[[nodiscard]] constexpr bool is_rounds(std::uint8_t detail) noexcept { return detail >= 0x80; }

/// The first disagreement that a member has seen in a call.
struct Difference {
  int member = -1;  ///< -1: none
  CallSignature theirs, ours;
  bool detail = false;  ///< whether the detail of any differs
};

}  // namespace starling::mpi::coll::node

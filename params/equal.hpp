// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters whose value must be equal on all members of a communicator: a flag of the declaration.
/// Layer: params.
///
/// frameworks/bootstrap/terms.hpp compares them. Threads: pure functions.

#include "params/decl.hpp"

namespace starling::params {

/// Bits of Decl::units.
inline constexpr std::uint32_t kSizes = 1, kEqual = 2;

/// The same declaration; members of a communicator with different values are an error that names both.
consteval Decl equal_everywhere(Decl decl) {
  decl.units |= kEqual;
  return decl;
}

[[nodiscard]] constexpr bool is_equal_everywhere(const Decl& decl) noexcept {
  return (decl.units & kEqual) != 0;
}
[[nodiscard]] constexpr bool takes_sizes(const Decl& decl) noexcept { return (decl.units & kSizes) != 0; }

}  // namespace starling::params

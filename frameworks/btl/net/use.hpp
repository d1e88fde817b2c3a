// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of the network btls that say whether something is used. Layer: framework.

#include <cstdint>

namespace starling::btl::net {

/// In the order of the choices "auto|always|never".
enum class Use : std::uint8_t { automatic, always, never };

/// `suits`: whether it is of use here by itself.
[[nodiscard]] constexpr bool decide(Use use, bool suits) noexcept {
  return use == Use::always || (use == Use::automatic && suits);
}

}  // namespace starling::btl::net

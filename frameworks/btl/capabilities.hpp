// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a transport can do besides messages: one set. Layer: framework interface.
///
/// Threads: value types.

#include <cstdint>
#include <initializer_list>

namespace starling::btl {

enum class Capability : std::uint8_t {
  get,      ///< Endpoint::get: announced messages are read out of their sender's memory
  put,      ///< Component::expose and Endpoint::remote: exposed memory is written and read
  atomics,  ///< Remote::atomic, too
  lend,     ///< Endpoint::loans
  keep      ///< Origin::keeper: received bytes may be kept
};

/// What a transport says that it can; a single peer may still refuse.
class Capabilities {
 public:
  constexpr Capabilities() noexcept = default;
  constexpr Capabilities(std::initializer_list<Capability> all) noexcept {
    for (const Capability each : all) add(each);
  }
  [[nodiscard]] constexpr bool has(Capability what) const noexcept { return (bits_ & bit(what)) != 0; }
  constexpr void add(Capability what, bool really = true) noexcept { bits_ |= really ? bit(what) : 0u; }
  bool operator==(const Capabilities&) const = default;

 private:
  static constexpr std::uint32_t bit(Capability what) noexcept { return 1u << static_cast<unsigned>(what); }
  std::uint32_t bits_ = 0;
};

}  // namespace starling::btl

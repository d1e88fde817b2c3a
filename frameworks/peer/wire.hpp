// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How every message between two processes begins. Layer: framework (peer).
///
/// The first byte is the kind, which belongs to one port (port.hpp). Byte order is the machine's: a job runs
/// on one architecture. Messages are not aligned in a transport's memory: read() copies.
/// Threads: value types.
/// Units: bytes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace starling::peer::wire {

/// Each port has an enumeration of its own kinds; all kinds are numbers of one byte.
template <class Kind>
struct PrefixOf {
  Kind kind{};
  std::uint8_t flags = 0;
  std::uint16_t unused = 0;
  std::uint32_t length = 0;  ///< payload bytes, where the kind does not say otherwise
};

/// The kinds of this floor, and of ports that it knows by number only. The pml has the others up to 127
/// (frameworks/pml/wire.hpp), the protocols of its plugins those from 128 on.
enum class Kind : std::uint8_t {
  creation = 9,   ///< Prefix, payload: how communicators are agreed on
  numbered = 12,  ///< Numbered, then another message: from a peer with several paths. Number 0: its order
                  ///< does not matter
  passed = 14     ///< Numbered: all numbered messages up to this one have been taken
};

/// Whether the number is one of these.
[[nodiscard]] constexpr bool taken(Kind kind) noexcept {
  return kind == Kind::creation || kind == Kind::numbered || kind == Kind::passed;
}

using Prefix = PrefixOf<Kind>;

/// In front of a message that may be overtaken on another path.
struct Numbered {
  Prefix prefix;
  std::uint64_t number = 0;
};

static_assert(sizeof(Prefix) == 8 && offsetof(Prefix, length) == 4);
static_assert(sizeof(Numbered) == 16);

/// Longest header of any port, and longest message that Outbox::answer takes.
inline constexpr std::size_t kHeaderMax = 56;
/// The longest payload of Peers::send that every transport takes, and the longest that any takes.
inline constexpr std::size_t kPayloadMax = 512, kPayloadLongMax = 48 * 1024;

/// Copies the header out of a message; false if the message is too short to have one.
template <class Header>
[[nodiscard]] inline bool read(std::span<const std::byte> message, Header& header) noexcept {
  static_assert(std::is_trivially_copyable_v<Header>);
  if (message.size() < sizeof(Header)) return false;
  std::memcpy(&header, message.data(), sizeof(Header));
  return true;
}

template <class Header>
[[nodiscard]] inline std::span<const std::byte> bytes_of(const Header& header) noexcept {
  static_assert(std::is_trivially_copyable_v<Header>);
  return {reinterpret_cast<const std::byte*>(&header), sizeof(Header)};
}

}  // namespace starling::peer::wire

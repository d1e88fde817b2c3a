// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a process publishes so that others can reach it. Layer: framework, for the network btls.
///
/// The libraries trust addresses: damaged ones make them crash, those of another provider or version make
/// them wait for ever. So an address travels with what it belongs to, and with a checksum.
///
/// Threads: value types. Errors: Result with what was expected and found.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::btl::net {

struct Card {
  std::string protocol;            ///< both sides must have the same, e.g. "ofi net 1.17 format 2"
  std::string place;               ///< for people, e.g. "10.1.0.3 (eth0)"
  std::uint64_t token = 0;         ///< random; a message must carry it, so a reused port takes nothing in
  std::vector<std::byte> address;  ///< the library's own
  std::uint32_t machine = 0;       ///< this_machine() of who wrote it; 0: unknown
};

/// The same number in all processes of a running system, whatever containers they are in; another one
/// elsewhere. 0 if it cannot be known.
[[nodiscard]] std::uint32_t this_machine() noexcept;

[[nodiscard]] std::vector<std::byte> encode(const Card& card);

/// Errors: Errc::bad_input for bytes that no Starling has written.
[[nodiscard]] Result<Card> decode(std::span<const std::byte> bytes);

/// Whether two processes can speak; else what differs.
[[nodiscard]] Result<void> compatible(const Card& peer, std::string_view own_protocol);

/// decode() and compatible() for Component::connect; `where` begins the error: "btl/ucx: rank 3".
[[nodiscard]] Result<Card> decode_from_peer(std::span<const std::byte> bytes, std::string_view own_protocol,
                                            std::string_view where);

/// A number that no other process guesses by accident; never 0.
[[nodiscard]] std::uint64_t random_token() noexcept;

}  // namespace starling::btl::net

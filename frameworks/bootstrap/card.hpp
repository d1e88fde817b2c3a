// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The addresses of one process in one value: what is published of it. Layer: framework.
///
/// One value per process instead of one per transport: whoever has it knows also which transports the process
/// does not have, and a peer costs one question.
///
///     version u8 | { name length u8 | name | address length u16 | address } ...      machine byte order
///
/// Threads: pure functions.
/// Errors:  bytes come from other processes; what does not parse is bad_input, saying where.
/// Units:   bytes.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"

namespace starling::bootstrap {

/// Errc::no_space if a name or an address is longer than its length field can say.
[[nodiscard]] Result<std::vector<std::byte>> encode_card(const std::vector<LocalAddress>& addresses);

/// The address of one transport in a card; nullopt: the process does not have it.
[[nodiscard]] Result<std::optional<std::vector<std::byte>>> find_in_card(std::span<const std::byte> card,
                                                                         std::string_view transport);

}  // namespace starling::bootstrap

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A list of hosts as people write it, and their addresses. Layer: framework, for the network btls.
///
/// Threads: pure functions; resolve() may ask a name server.
/// Errors:  Errc::bad_parameter with the part that is wrong.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::btl::net {

/// "n1,rack[08-11,20]-ib,10.0.0.[1-3]" as single names, in this order. At most one bracket per name; numbers
/// keep their leading zeros. At most kHostsMost names.
[[nodiscard]] Result<std::vector<std::string>> expand_hosts(std::string_view list);

inline constexpr std::size_t kHostsMost = 1u << 20;

/// The IPv4 address of a host name, or of an address in digits.
[[nodiscard]] Result<std::string> resolve(const std::string& host);

}  // namespace starling::btl::net

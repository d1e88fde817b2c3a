// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Addresses of other processes, per transport. Layer: framework interface.
///
/// The bootstrap implements AddressBook; peer::Table asks it at a peer's first contact.
/// Threads: one at a time.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"

namespace starling::btl {

/// Where the addresses of a transport come from.
enum class AddressSource : std::uint8_t {
  computed,          ///< from facts that everybody has (node, local rank): no exchange at all
  resource_manager,  ///< the process manager knows them
  published          ///< each process must publish its own
};

/// What an address book knows now: a slow peer must not be taken for one without that transport.
struct Found {
  enum class What : std::uint8_t { address, none, not_yet };
  What what = What::none;
  std::vector<std::byte> address;
};

class AddressBook {
 public:
  virtual ~AddressBook() = default;
  /// The peer's address for the transport of that name. Never waits for the peer: `not_yet` means ask again.
  /// Errc::timed_out: it was not published in time.
  [[nodiscard]] virtual Result<Found> address(ProcId peer, std::string_view transport) = 0;
};

}  // namespace starling::btl

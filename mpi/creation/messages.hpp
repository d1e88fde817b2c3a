// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Blocking messages on a communicator's collective channel, for making communicators. Layer: mpi.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ownership: spans are borrowed until the call returns.
/// Errors:    those of mpi/request/fault.hpp, with what was exchanged and with whom.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/comm/comm.hpp"

namespace starling::mpi {

/// The messages of one exchange, all with one tag. Ranks are those that `comm` can send to.
struct Messages {
  Comm& comm;
  Tag tag;
  const char* what;  ///< "a broadcast", for the error's text

  [[nodiscard]] int send(std::uint32_t to, std::span<const std::byte> bytes) const;
  [[nodiscard]] int receive(std::uint32_t from, std::span<std::byte> bytes) const;
  /// Both at once.
  [[nodiscard]] int swap(std::uint32_t to, std::span<const std::byte> out, std::uint32_t from,
                         std::span<std::byte> in) const;
};

}  // namespace starling::mpi

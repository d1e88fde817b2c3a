// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Why something between this process and another one ended otherwise than well. Layer: framework
/// (peer).
/// Threads: value types.

#include <cstdint>

namespace starling::peer {

/// mpi/ maps it to an error class. peer_left: the other process has left MPI in order and ended; peer_lost:
/// it has ended otherwise.
enum class Fault : std::uint8_t { none, truncated, peer_lost, peer_left, unreachable, no_memory, internal };

[[nodiscard]] constexpr bool peer_gone(Fault fault) noexcept {
  return fault == Fault::peer_lost || fault == Fault::peer_left;
}

}  // namespace starling::peer

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What is known of receives that one process has told another one of. Layer: framework (pml).
///
/// Threads: value types, the pml's. Ownership: Peer's. Units: bytes; positions as Peer::sent().

#include <cstdint>
#include <vector>

#include "core/ids.hpp"

namespace starling::pml {

struct Request;

/// Sender: a receive that waits at the peer.
struct Invitation {
  ContextId context;
  Tag tag{0};
  std::uint32_t permit = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t position = 0;
  std::uint64_t generation = 0;
};

/// Receiver: one of its own. The request is that of the receive as long as nothing of the peer's has been
/// taken since: while Peer::taken() is the position. Later it may be anything.
struct Invited {
  ContextId context;
  Request* request = nullptr;
  std::uint32_t permit = 0;
  std::uint64_t position = 0;
  std::uint64_t generation = 0;
};

struct Invitations {
  std::vector<Invitation> ours;  ///< at most one of a context
  std::vector<Invited> its;      ///< at most one of a context
  std::uint32_t missed = 0;      ///< in a row, that the peer did not come to use
  std::uint32_t pause = 0;       ///< receives that it is not told of
  bool failed = false;           ///< the kernel has refused a write
};

}  // namespace starling::pml

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What is known of buffers that one process has granted to another one. Layer: framework (pml).
///
/// Threads: value types, the pml's. Ownership: Peer's. Units: bytes.

#include <cstdint>
#include <vector>

#include "core/ids.hpp"

namespace starling::pml {

struct Granted {
  ContextId context;
  Tag tag{0};
  std::uint64_t handle = 0;   ///< the receiver's name for it
  std::uint64_t address = 0;  ///< in the receiver; 0 on its own side
  std::uint64_t bytes = 0;
};

struct PeerGrants {
  std::vector<Granted> ours;  ///< to write to, oldest first
  std::vector<Granted> its;   ///< what it may write to here
};

}  // namespace starling::pml

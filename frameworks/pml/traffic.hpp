// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What was sent to a process, and how it got there. Layer: framework (pml).
///
/// Counted by the sender: at once for eager messages, with the receiver's answer for the others. The messages
/// of collectives count; those of other ports and the protocols' own do not.
/// Units: bytes of payload.

#include <cstdint>
#include <string_view>

#include "core/ids.hpp"

namespace starling::pml {

struct Traffic {
  struct Messages {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  Messages eager;            ///< with their envelope, at once
  Messages ring;             ///< announced, then pushed in fragments; also those that come to no bytes
  Messages get;              ///< announced, then copied by the receiver
  std::uint64_t stalls = 0;  ///< short enough to be eager, but announced for want of credit
};

struct PeerTraffic {
  ProcId peer;
  std::string_view transport;  ///< name of the btl
  Traffic sent;
};

}  // namespace starling::pml

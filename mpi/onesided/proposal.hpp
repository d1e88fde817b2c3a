// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the members of a window to be made tell each other. Layer: mpi. docs/design/onesided.md
/// Threads: value types. Units: bytes.

#include <cstdint>
#include <vector>

#include "core/ids.hpp"
#include "mpi.h"
#include "mpi/onesided/control_extent.hpp"
#include "mpi/onesided/cross_memory.hpp"

namespace starling::mpi {

struct Proposal {
  ContextId id;  ///< of rank 0: that of the private communicator
  std::uint64_t size = 0;
  std::uint64_t address = 0;  ///< of its memory, if the program has brought it
  std::uint64_t object = 0;   ///< the object of MPI_Alloc_mem that it lies in: where that begins; 0: none
  Probe probe;
  std::int32_t unit = 1;
  std::uint16_t alignment = 1;
  std::int16_t refused = MPI_SUCCESS;  ///< why it cannot take part
  std::uint8_t elsewhere = 0;          ///< some member shares no memory with it
  std::uint8_t noncontiguous = 0;
  std::uint8_t no_locks = 0;
  std::uint8_t needs_object =
      0;  ///< its domain's memory is to be made by one local peer and mapped by others
  std::uint8_t unused[4] = {};
  ControlExtent::Offer control;  ///< of a domain's first local peer: where the control words are; or nowhere
};
static_assert(sizeof(Proposal) == 80);
using Proposals = std::vector<Proposal>;

}  // namespace starling::mpi

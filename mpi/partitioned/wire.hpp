// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How the two sides of a partitioned operation come together. Layer: mpi. MPI 5.0 section 4.2.
///
/// MPI_Psend_init sends an Offer with the user's tag; MPI_Precv_init posts a receive for it. So the two match
/// in the order of initialisation, also if one of them is freed before the other comes. The offer says how
/// the sender divides the data and which tags its partitions have; the receiver then receives these messages,
/// whatever its own division is.
///
/// Units:     bytes.

#include <cstdint>

#include "frameworks/pml/request.hpp"

namespace starling::mpi::partitioned {

/// Same machine architecture on both sides.
struct Offer {
  std::uint32_t layout = 1;
  std::uint32_t partitions = 0;
  std::uint64_t bytes_each = 0;  ///< packed size of one partition
  std::int32_t first_tag = 0;    ///< partition i has the tag first_tag - i
  std::uint32_t unused = 0;
};
static_assert(sizeof(Offer) == 24);

/// An offer that is waited for, and where it goes.
struct Expected {
  Offer offer;
  pml::Request request;
};

}  // namespace starling::mpi::partitioned

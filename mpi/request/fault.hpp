// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  From the pml's status and faults to MPI's. Layer: mpi.

#include "frameworks/pml/request.hpp"
#include "mpi.h"

namespace starling::mpi {

class Comm;

/// Source, tag and length of a received message.
void fill_status(const pml::Status& from, MPI_Status& to) noexcept;
/// The error class of a fault, with the detail noted on `comm` (may be null).
[[nodiscard]] int fault_error(const pml::Request& request, const Comm* comm);

}  // namespace starling::mpi

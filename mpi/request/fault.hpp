// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  From the pml's status and faults to MPI's, with words. Layer: mpi.
///
/// Threads: under the runtime's lock.

#include <string>

#include "frameworks/pml/request.hpp"
#include "mpi.h"
#include "mpi/error_class.hpp"

namespace starling::mpi {

class Comm;

/// Source, tag and length of a received message.
void fill_status(const pml::Status& from, MPI_Status& to) noexcept;

/// Why, of a message to or from `rank` (of the remote group, of an intercommunicator): "rank 3 has ended".
/// `comm` may be null: then less is known of a lost rank. What was too long is not known here; who knows says
/// it himself.
[[nodiscard]] std::string fault_text(pml::Fault fault, const Comm* comm, int rank);
/// Notes the fault of a message that `comm` needed by itself, as in a collective; `what` ("a broadcast")
/// comes first, if it is given. Gives the class.
[[nodiscard]] int fault_error(pml::Fault fault, const Comm& comm, int rank, const std::string& what = {});
/// As above, for a message of the program; `comm` may be null.
[[nodiscard]] int fault_error(const pml::Request& request, const Comm* comm);
/// Whether a completed send or receive failed although its peer has not ended, as far as is known: there was
/// no transport or no memory for it. Nobody tells the peer, so what it owes this process in return may never
/// come. A call that consists of several operations does not wait for the others then.
[[nodiscard]] bool failed_here(const pml::Request& request, const Comm& comm) noexcept;
[[nodiscard]] bool failed_here(pml::Fault fault, const Comm& comm, int rank) noexcept;

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// From the pml's faults to MPI errors. Layer: mpi.

#include "mpi/request/fault.hpp"

#include <string>

#include "mpi/comm/comm.hpp"
#include "mpi/error.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {

void fill_status(const pml::Status& from, MPI_Status& to) noexcept {
  to.MPI_SOURCE = to_int(from.source);
  to.MPI_TAG = to_int(from.tag);
  set_bytes(to, from.bytes);
}

int fault_error(const pml::Request& request, const Comm* comm) {
  const std::string rank = std::to_string(to_int(request.receive ? request.status.source : request.rank));
  int error_class = MPI_ERR_INTERN;
  std::string detail = "the message ended with an internal error";
  switch (request.status.fault) {
    case pml::Fault::none: return MPI_SUCCESS;
    case pml::Fault::truncated:
      error_class = MPI_ERR_TRUNCATE;
      detail = "the message from rank " + rank + " with tag " + std::to_string(to_int(request.status.tag)) +
               " is longer than the receive buffer of " + std::to_string(request.buffer.bytes) + " bytes";
      break;
    case pml::Fault::peer_lost:
      error_class = MPI_ERR_PROC_ABORTED;
      detail = "rank " + rank + " has ended";
      break;
    case pml::Fault::peer_left:
      error_class = MPI_ERR_PROC_ABORTED;
      detail = "rank " + rank + " has left MPI and ended";
      break;
    case pml::Fault::unreachable:
      error_class = MPI_ERR_OTHER;
      detail = "no transport reaches rank " + rank + "; the log line before says why";
      break;
    case pml::Fault::no_memory:
      error_class = MPI_ERR_NO_MEM;
      detail = "no memory for a message of " + std::to_string(request.buffer.bytes) + " bytes";
      break;
    case pml::Fault::internal: break;
  }
  return comm == nullptr ? error(error_class, std::move(detail))
                         : error_on(*comm, error_class, std::move(detail));
}

}  // namespace starling::mpi

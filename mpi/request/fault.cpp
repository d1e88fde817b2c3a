// SPDX-License-Identifier: BSD-3-Clause
// From the pml's faults to MPI errors. Layer: mpi.

#include "mpi/request/fault.hpp"

#include <string>

#include "frameworks/pml/context.hpp"
#include "frameworks/pml/peer.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/error.hpp"
#include "mpi/request/fate.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {

void fill_status(const pml::Status& from, MPI_Status& to) noexcept {
  to.MPI_SOURCE = to_int(from.source);
  to.MPI_TAG = to_int(from.tag);
  set_bytes(to, from.bytes);
}

std::string fate_text(const Comm& comm, int rank) {
  const std::string who = "rank " + std::to_string(rank) + " ";
  for (const pml::Context* context : {&comm.context(), &comm.collective_context()}) {
    const pml::Source* const source = context->touched(Rank{rank});
    if (source == nullptr) continue;
    const pml::Peer& peer = *source->peer;
    if (peer.left) return who + "has left MPI and ended";
    if (peer.state == pml::PeerState::lost && !peer.refused.empty()) {  // not known to have ended
      return who + "cannot be reached any more: " + peer.refused.front();
    }
  }
  return who + "has ended";
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
    case pml::Fault::peer_left:
      error_class = MPI_ERR_PROC_ABORTED;
      detail = comm != nullptr ? fate_text(*comm, std::stoi(rank)) : "rank " + rank + " is lost";
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

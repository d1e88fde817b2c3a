// SPDX-License-Identifier: BSD-3-Clause
// From the pml's faults to MPI errors. Layer: mpi.

#include "mpi/request/fault.hpp"

#include <string>

#include "frameworks/pml/context.hpp"
#include "frameworks/pml/peer.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/error.hpp"
#include "mpi/request/fate.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {

void fill_status(const pml::Status& from, MPI_Status& to) noexcept {
  to.MPI_SOURCE = to_int(from.source);
  to.MPI_TAG = to_int(from.tag);
  set_bytes(to, from.bytes);
}

namespace {

/// Why `rank` cannot be reached, where it is lost and not known to have ended; else null.
const std::string* refusal(const Comm& comm, int rank) noexcept {
  for (const pml::Context* context : {&comm.context(), &comm.collective_context()}) {
    const pml::Source* const source = context->touched(Rank{rank});
    if (source == nullptr) continue;
    const pml::Peer& peer = *source->peer;
    if (peer.state == pml::PeerState::lost && !peer.contact->refused.empty())
      return &peer.contact->refused.front();
  }
  if (comm.inter() || rank < 0) return nullptr;
  // What has sent no message of the communicator's may have sent others, as a window does.
  const peer::Peer* const peer =
      Runtime::get()->peers().table().find(comm.group()->at(static_cast<std::uint32_t>(rank)));
  const bool known =
      peer != nullptr && peer->state == pml::PeerState::lost && !peer->contact->refused.empty();
  return known ? &peer->contact->refused.front() : nullptr;
}

}  // namespace

std::string fate_text(const Comm& comm, int rank) {
  if (rank == MPI_ANY_SOURCE) return "every other rank of the communicator has left MPI or ended";
  const std::string who = "rank " + std::to_string(rank) + " ";
  if (Runtime::get()->pml().lost(comm.context(), Rank{rank}) == pml::Fault::peer_left)
    return who + "has left MPI and ended";
  if (const std::string* const why = refusal(comm, rank)) return who + "cannot be reached any more: " + *why;
  return who + "has ended";
}

std::string fault_text(pml::Fault fault, const Comm* comm, int rank) {
  const std::string who = "rank " + std::to_string(rank);
  switch (fault) {
    case pml::Fault::none: return {};
    case pml::Fault::truncated: return "the message from " + who + " is longer than what this rank expects";
    case pml::Fault::peer_lost:
    case pml::Fault::peer_left: return comm != nullptr ? fate_text(*comm, rank) : who + " is lost";
    case pml::Fault::unreachable: return "no transport reaches " + who + "; the log line before says why";
    case pml::Fault::no_memory: return "no memory for a message to or from " + who;
    case pml::Fault::internal: break;
  }
  return "a message to or from " + who + " ended with an internal error";
}

bool failed_here(const pml::Request& request, const Comm& comm) noexcept {
  return failed_here(request.status.fault, comm, to_int(request.rank));
}

bool failed_here(pml::Fault fault, const Comm& comm, int rank) noexcept {
  switch (fault) {
    case pml::Fault::unreachable:
    case pml::Fault::no_memory:
    case pml::Fault::internal: return true;
    case pml::Fault::peer_lost: return refusal(comm, rank) != nullptr;
    default: return false;
  }
}

int fault_error(pml::Fault fault, const Comm& comm, int rank, const std::string& what) {
  const std::string why = fault_text(fault, &comm, rank);
  return error_on(comm, fault_class(fault), what.empty() ? why : what + ": " + why);
}

int fault_error(const pml::Request& request, const Comm* comm) {
  const pml::Fault fault = request.status.fault;
  if (fault == pml::Fault::none) return MPI_SUCCESS;
  const int rank = to_int(request.receive ? request.status.source : request.rank);
  std::string detail = fault_text(fault, comm, rank);
  if (fault == pml::Fault::truncated) {
    detail = "the message from rank " + std::to_string(rank) + " with tag " +
             std::to_string(to_int(request.status.tag)) + " is longer than the receive buffer of " +
             std::to_string(request.buffer.bytes) + " bytes";
  } else if (fault == pml::Fault::no_memory) {
    detail += " (" + std::to_string(request.buffer.bytes) + " bytes)";
  }
  return comm == nullptr ? error(fault_class(fault), std::move(detail))
                         : error_on(*comm, fault_class(fault), std::move(detail));
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Blocking messages for making communicators. Layer: mpi.

#include "mpi/creation/messages.hpp"

#include <string>

#include "mpi.h"
#include "mpi/error.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi {
namespace {

void fill(pml::Request& request, const Messages& messages, std::uint32_t rank, const void* data,
          std::size_t bytes) {
  request.context = &messages.comm.collective_context();
  request.rank = Rank{static_cast<std::int32_t>(rank)};
  request.tag = messages.tag;
  request.buffer.base = const_cast<void*>(data);
  request.buffer.bytes = bytes;
}

int await(pml::Request& request, const Comm& comm, const char* what) {
  const auto text = [&] {
    return std::string(what) + " among " + comm.label() + ": waits for rank " +
           std::to_string(to_int(request.rank));
  };
  const Waiting waiting(text);
  Runtime::get()->waits().wait([&] { return request.complete.load(std::memory_order_acquire); });
  // Cancelled by the pml: a member has died, so that this would never be received.
  const bool cancelled = request.status.cancelled;
  const pml::Fault fault = cancelled ? pml::Fault::peer_lost : request.status.fault;
  if (fault == pml::Fault::none) return MPI_SUCCESS;
  const bool said = peer_gone(fault) && (request.receive || cancelled);
  return fault_error(fault, comm, to_int(said ? request.status.source : request.rank), what);
}

}  // namespace

int Messages::send(std::uint32_t to, std::span<const std::byte> bytes) const {
  pml::Request request;
  fill(request, *this, to, bytes.data(), bytes.size());
  Runtime::get()->pml().isend(request);
  return await(request, comm, what);
}

int Messages::receive(std::uint32_t from, std::span<std::byte> bytes) const {
  pml::Request request;
  request.receive = true;
  fill(request, *this, from, bytes.data(), bytes.size());
  Runtime::get()->pml().irecv(request);
  return await(request, comm, what);
}

int Messages::swap(std::uint32_t to, std::span<const std::byte> out, std::uint32_t from,
                   std::span<std::byte> in) const {
  pml::Request incoming;
  incoming.receive = true;
  fill(incoming, *this, from, in.data(), in.size());
  Runtime::get()->pml().irecv(incoming);
  pml::Request outgoing;
  fill(outgoing, *this, to, out.data(), out.size());
  Runtime::get()->pml().isend(outgoing);
  const int sent = await(outgoing, comm, what);
  if (sent == MPI_SUCCESS) return await(incoming, comm, what);
  // Nobody tells the other one, so what it owes this process may never come.
  const std::string why(last_error_detail());
  if (failed_here(outgoing, comm)) Runtime::get()->pml().cancel(incoming);
  (void)await(incoming, comm, what);
  return error(sent, why);
}

}  // namespace starling::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Exchanges among both groups of an intercommunicator, as schedules of the collective engine. Layer: mpi.
// docs/design/collectives.md, "Intercommunicators".

#include "mpi/creation/inter_exchange.hpp"

#include <string>

#include "mpi.h"
#include "mpi/coll/execution.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi {
namespace {

using coll::packed;
using coll::Schedule;

coll::Buffer region(std::span<const std::byte> bytes) noexcept {
  return packed(const_cast<std::byte*>(bytes.data()), bytes.size());
}

int run(Comm& comm, coll::Execution& execution) {
  Runtime& runtime = *Runtime::get();
  execution.start({&runtime.pml(), &comm.collective_context(), comm.next_collective_tag()});
  const auto what = [&] {
    return "an exchange between the groups of " + comm.label() + ": " + execution.state();
  };
  const Waiting waiting(what);
  if (!execution.complete()) runtime.waits().wait([&] { return execution.advance(); });
  if (execution.fault() == pml::Fault::none) return MPI_SUCCESS;
  return fault_error(execution.fault(), comm, execution.faulty_peer(), "an exchange between the two groups");
}

}  // namespace

int share_of_roots(Comm& comm, std::span<std::byte> ours, std::span<std::byte> theirs) {
  coll::Execution execution;
  Schedule& schedule = execution.schedule;
  schedule.receive(0, region(theirs));
  if (comm.rank() == 0) {
    schedule.send(0, region(ours));
    schedule.next_round();
    for (std::uint32_t rank = 1; rank < comm.peer_count(); ++rank) {
      schedule.send(static_cast<int>(rank), region(ours));
      schedule.send(static_cast<int>(rank), region(theirs));
    }
  } else {
    schedule.receive(0, region(ours));
  }
  schedule.next_round();
  return run(comm, execution);
}

int allgather_groups(Comm& comm, std::span<const std::byte> mine, std::span<std::byte> ours,
                     std::span<std::byte> theirs) {
  coll::Execution execution;
  Schedule& schedule = execution.schedule;
  schedule.send(0, region(mine));
  if (comm.rank() == 0) {
    for (std::uint32_t rank = 0; rank < comm.peer_count(); ++rank) {
      schedule.receive(static_cast<int>(rank), region(theirs.subspan(rank * mine.size(), mine.size())));
    }
    schedule.next_round();
    // The remote rank 0 has what our group sent, and we what its group sent.
    schedule.send(0, region(theirs));
    schedule.receive(0, region(ours));
    schedule.next_round();
    for (std::uint32_t rank = 1; rank < comm.peer_count(); ++rank) {
      schedule.send(static_cast<int>(rank), region(ours));
      schedule.send(static_cast<int>(rank), region(theirs));
    }
  } else {
    schedule.receive(0, region(theirs));
    schedule.receive(0, region(ours));
  }
  schedule.next_round();
  return run(comm, execution);
}

}  // namespace starling::mpi

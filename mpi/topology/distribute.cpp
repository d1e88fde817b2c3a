// SPDX-License-Identifier: BSD-3-Clause
/// @file  The exchange behind MPI_Dist_graph_create: how many edges go where, then the edges. What is hard:
/// that all processes agree on a failure. docs/design/topology.md

#include "mpi/topology/distribute.hpp"

#include "mpi.h"
#include "mpi/coll/execution.hpp"
#include "mpi/coll/select.hpp"
#include "mpi/error.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi::topology {
namespace {

/// What each process tells each other first.
struct Notice {
  std::int64_t edges = 0;
  std::int64_t weighted = 0;
};

template <class T>
coll::Type bytes_of() {
  coll::Type type;
  type.size = type.true_extent = sizeof(T);
  type.extent = sizeof(T);
  type.contiguous = true;
  return type;
}

int exchange(Comm& comm, const coll::Alltoall& asked) {
  const auto size = static_cast<int>(comm.size());
  coll::Execution execution;
  coll::alltoall(execution.schedule, {static_cast<int>(comm.rank()), size, 0, false}, {}, asked);
  if (!execution.schedule.ok()) return error(MPI_ERR_NO_MEM, "no memory to exchange the edges of the graph");
  execution.start({&Runtime::get()->pml(), &comm.collective_context(), comm.next_collective_tag()});
  const auto what = [&] {
    return "the creation of a distributed graph on " + comm.label() + ": " + execution.state();
  };
  const Waiting waiting(what);
  Runtime::get()->waits().wait([&execution] { return execution.advance(); });
  if (execution.fault() == pml::Fault::none) return MPI_SUCCESS;
  return fault_error(execution.fault(), comm, execution.faulty_peer(), "the edges of the graph");
}

/// The counts that alltoall wants, from where the blocks begin.
std::vector<std::int64_t> lengths(const std::vector<std::int64_t>& begins) {
  std::vector<std::int64_t> result;
  for (std::size_t i = 1; i < begins.size(); ++i) result.push_back(begins[i] - begins[i - 1]);
  return result;
}

}  // namespace

Distributed distribute(Comm& comm, std::span<const Edge> edges, bool weighted) {
  const std::size_t ranks = comm.size();
  const Mail mail = address(edges, static_cast<int>(ranks));
  const std::vector<std::int64_t> sent = lengths(mail.begins);
  std::vector<Notice> out, in(ranks);
  for (const std::int64_t count : sent) out.push_back({count, weighted ? 1 : 0});
  const coll::Type notice = bytes_of<Notice>(), edge = bytes_of<Edge>();
  coll::Alltoall notices;
  notices.send = coll::Blocks(out.data(), 1, notice);
  notices.receive = coll::Blocks(in.data(), 1, notice);
  if (const int rc = exchange(comm, notices); rc != MPI_SUCCESS) return {rc, {}};

  // Every process has heard every other, so all come to the same conclusion.
  std::vector<std::int64_t> received, begins{0};
  bool agree = true;
  for (const Notice& one : in) {
    agree = agree && one.weighted == in.front().weighted;
    received.push_back(one.edges);
    begins.push_back(begins.back() + one.edges);
  }
  if (!agree) {
    return {error(MPI_ERR_ARG, "weights is MPI_UNWEIGHTED at some processes and not at others"), {}};
  }
  std::vector<Edge> arrived(static_cast<std::size_t>(begins.back()));
  coll::Alltoall letters;
  letters.send =
      coll::Blocks(mail.messages.data(), {nullptr, sent.data()}, {nullptr, mail.begins.data()}, edge);
  letters.receive = coll::Blocks(arrived.data(), {nullptr, received.data()}, {nullptr, begins.data()}, edge);
  if (const int rc = exchange(comm, letters); rc != MPI_SUCCESS) return {rc, {}};
  return {MPI_SUCCESS, collect(arrived, static_cast<int>(comm.rank()), weighted)};
}

}  // namespace starling::mpi::topology

// SPDX-License-Identifier: BSD-3-Clause
// Graphs of which each process knows its own edges. Layer: mpi. MPI 5.0 sections 8.5.4, 8.5.5.

#include <algorithm>
#include <limits>

#include "mpi/api.gen.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/topology/attach.hpp"
#include "mpi/error.hpp"
#include "mpi/topology/distribute.hpp"

namespace starling::mpi::api {
namespace {

using topology::Adjacency;
using topology::Edge;

int check_ranks(const char* name, const int ranks[], std::uint32_t count, const Comm& comm) {
  if (const int rc = check::bad_array(name, ranks, count); rc != MPI_SUCCESS) return rc;
  for (std::size_t i = 0; i < count; ++i) {
    if (check::in_range(ranks[i], comm.size())) continue;
    return error(MPI_ERR_RANK,
                 unexpected(element(name, i), ranks[i], "0.." + std::to_string(comm.size() - 1)));
  }
  return MPI_SUCCESS;
}

/// The special addresses stand for no array; they are right here only where there is nothing to read.
int check_weights(const char* name, const int weights[], std::uint32_t count) {
  if (count == 0) return MPI_SUCCESS;
  if (weights == MPI_WEIGHTS_EMPTY) {
    return error(MPI_ERR_ARG,
                 std::string(name) + " is MPI_WEIGHTS_EMPTY, expected " + std::to_string(count) + " weights");
  }
  if (const int rc = check::bad_array(name, weights, count); rc != MPI_SUCCESS) return rc;
  for (std::size_t i = 0; i < count; ++i) {
    if (weights[i] < 0) return error(MPI_ERR_ARG, unexpected(element(name, i), weights[i], "0 or more"));
  }
  return MPI_SUCCESS;
}

/// MPI_SUCCESS if the degrees are not negative and add up to an int.
int check_degrees(const int degrees[], std::uint32_t count) {
  if (const int rc = check::bad_array("degrees", degrees, count); rc != MPI_SUCCESS) return rc;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (degrees[i] < 0) return error(MPI_ERR_ARG, unexpected(element("degrees", i), degrees[i], "0 or more"));
    total += degrees[i];
    if (total > std::numeric_limits<int>::max())
      return error(MPI_ERR_ARG, "degrees name more than 2^31 edges");
  }
  return MPI_SUCCESS;
}

std::vector<Edge> edges_from(int n, const int sources[], const int degrees[], const int destinations[],
                             const int weights[]) {
  std::vector<Edge> edges;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < degrees[i]; ++k) {
      const std::size_t at = edges.size();
      edges.push_back({sources[i], destinations[at], weights == MPI_UNWEIGHTED ? 0 : weights[at]});
    }
  }
  return edges;
}

int attach(Comm& comm, Adjacency adjacency, MPI_Comm* newcomm) {
  auto topology = std::make_shared<Topology>(std::move(adjacency));
  return give(CommFactory::duplicate(comm), std::move(topology), newcomm);
}

/// One side of MPI_Dist_graph_neighbors; only the first part where the arrays are short.
struct Side {
  const char* name;
  const std::vector<int>& ranks;
  const std::vector<int>& weights;
};

int check_side(const Side& side, const char* weights_name, int most, const int ranks[], const int weights[]) {
  const auto count =
      static_cast<std::uint32_t>(std::min<std::size_t>(side.ranks.size(), static_cast<std::size_t>(most)));
  if (const int rc = check::bad_array(side.name, ranks, count); rc != MPI_SUCCESS) return rc;
  if (weights == MPI_UNWEIGHTED || side.weights.empty()) return MPI_SUCCESS;
  return check::bad_array(weights_name, weights == MPI_WEIGHTS_EMPTY ? nullptr : weights, count);
}

void put_side(const Side& side, int most, int ranks[], int weights[]) {
  const std::size_t count = std::min(side.ranks.size(), static_cast<std::size_t>(most));
  std::copy_n(side.ranks.begin(), count, ranks);
  if (weights != MPI_UNWEIGHTED && !side.weights.empty()) std::copy_n(side.weights.begin(), count, weights);
}

}  // namespace

int Dist_graph_create(Comm& comm_old, int n, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], Info*, int, MPI_Comm* comm_dist_graph) {
  *comm_dist_graph = MPI_COMM_NULL;
  if (comm_old.inter()) return no_intracommunicator("comm_old");
  const auto count = static_cast<std::uint32_t>(n);
  if (const int rc = check_ranks("sources", sources, count, comm_old); rc != MPI_SUCCESS) return rc;
  if (const int rc = check_degrees(degrees, count); rc != MPI_SUCCESS) return rc;
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += static_cast<std::uint32_t>(degrees[i]);
  if (const int rc = check_ranks("destinations", destinations, total, comm_old); rc != MPI_SUCCESS) return rc;
  const bool weighted = weights != MPI_UNWEIGHTED;
  if (weighted) {
    if (const int rc = check_weights("weights", weights, total); rc != MPI_SUCCESS) return rc;
  }
  auto [rc, adjacency] =
      topology::distribute(comm_old, edges_from(n, sources, degrees, destinations, weights), weighted);
  if (rc != MPI_SUCCESS) return rc;
  return attach(comm_old, std::move(adjacency), comm_dist_graph);
}

int Dist_graph_create_adjacent(Comm& comm_old, int indegree, const int sources[], const int sourceweights[],
                               int outdegree, const int destinations[], const int destweights[], Info*, int,
                               MPI_Comm* comm_dist_graph) {
  *comm_dist_graph = MPI_COMM_NULL;
  if (comm_old.inter()) return no_intracommunicator("comm_old");
  const auto in = static_cast<std::uint32_t>(indegree), out = static_cast<std::uint32_t>(outdegree);
  if (const int rc = check_ranks("sources", sources, in, comm_old); rc != MPI_SUCCESS) return rc;
  if (const int rc = check_ranks("destinations", destinations, out, comm_old); rc != MPI_SUCCESS) return rc;
  Adjacency adjacency;
  adjacency.weighted = sourceweights != MPI_UNWEIGHTED;
  if (adjacency.weighted != (destweights != MPI_UNWEIGHTED)) {
    return error(MPI_ERR_ARG, "only one of sourceweights and destweights is MPI_UNWEIGHTED, expected both");
  }
  adjacency.sources.assign(sources, sources + in);
  adjacency.destinations.assign(destinations, destinations + out);
  if (adjacency.weighted) {
    if (const int rc = check_weights("sourceweights", sourceweights, in); rc != MPI_SUCCESS) return rc;
    if (const int rc = check_weights("destweights", destweights, out); rc != MPI_SUCCESS) return rc;
    if (in != 0) adjacency.source_weights.assign(sourceweights, sourceweights + in);
    if (out != 0) adjacency.destination_weights.assign(destweights, destweights + out);
  }
  return attach(comm_old, std::move(adjacency), comm_dist_graph);
}

int Dist_graph_neighbors_count(Comm& comm, int* indegree, int* outdegree, int* weighted) {
  const Adjacency* const adjacency = adjacency_of(comm);
  if (adjacency == nullptr) return wrong_topology("distributed graph");
  *indegree = static_cast<int>(adjacency->sources.size());
  *outdegree = static_cast<int>(adjacency->destinations.size());
  *weighted = adjacency->weighted ? 1 : 0;
  return MPI_SUCCESS;
}

int Dist_graph_neighbors(Comm& comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                         int destinations[], int destweights[]) {
  const Adjacency* const adjacency = adjacency_of(comm);
  if (adjacency == nullptr) return wrong_topology("distributed graph");
  const Side in{"sources", adjacency->sources, adjacency->source_weights};
  const Side out{"destinations", adjacency->destinations, adjacency->destination_weights};
  int rc = check_side(in, "sourceweights", maxindegree, sources, sourceweights);
  if (rc == MPI_SUCCESS) rc = check_side(out, "destweights", maxoutdegree, destinations, destweights);
  if (rc != MPI_SUCCESS) return rc;
  put_side(in, maxindegree, sources, sourceweights);
  put_side(out, maxoutdegree, destinations, destweights);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api

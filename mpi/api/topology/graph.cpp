// SPDX-License-Identifier: BSD-3-Clause
// Graphs that every process knows as a whole. Layer: mpi. MPI 5.0 sections 8.5.3, 8.5.5, 8.5.8.

#include <algorithm>

#include "mpi/api.gen.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/topology/attach.hpp"
#include "mpi/error.hpp"

namespace starling::mpi::api {
namespace {

using topology::Graph;

/// MPI_SUCCESS if the arguments describe a graph that the members of `comm` can fill.
int check_graph(const char* name, const Comm& comm, int nnodes, const int indx[], const int edges[]) {
  if (comm.inter()) return no_intracommunicator(name);
  const auto nodes = static_cast<std::uint32_t>(nnodes);
  if (nodes > comm.size()) {
    return error(MPI_ERR_ARG, unexpected("nnodes", nnodes, std::to_string(comm.size()) + " or less"));
  }
  if (const int rc = check::bad_array("index", indx, nodes); rc != MPI_SUCCESS) return rc;
  int least = 0;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (indx[i] < least) {
      return error(MPI_ERR_ARG, unexpected(element("index", i), indx[i], std::to_string(least) + " or more"));
    }
    least = indx[i];
  }
  const auto count = static_cast<std::uint32_t>(least);
  if (const int rc = check::bad_array("edges", edges, count); rc != MPI_SUCCESS) return rc;
  for (std::size_t i = 0; i < count; ++i) {
    if (edges[i] >= 0 && edges[i] < nnodes) continue;
    return error(MPI_ERR_ARG, unexpected(element("edges", i), edges[i], "0.." + std::to_string(nnodes - 1)));
  }
  return MPI_SUCCESS;
}

/// MPI_SUCCESS if an array of `room` entries holds `needed` of them.
int check_room(const char* room_name, int room, const char* array_name, const int* array, int needed) {
  if (room < needed)
    return error(MPI_ERR_ARG, unexpected(room_name, room, std::to_string(needed) + " or more"));
  return check::bad_array(array_name, array, static_cast<std::uint32_t>(needed));
}

int check_node(const Graph& graph, int rank) {
  if (rank >= 0 && rank < graph.nodes()) return MPI_SUCCESS;
  return error(MPI_ERR_RANK, unexpected("rank", rank, "0.." + std::to_string(graph.nodes() - 1)));
}

}  // namespace

int Graph_create(Comm& comm_old, int nnodes, const int indx[], const int edges[], int, MPI_Comm* comm_graph) {
  *comm_graph = MPI_COMM_NULL;
  const int rc = check_graph("comm_old", comm_old, nnodes, indx, edges);
  if (rc != MPI_SUCCESS || nnodes == 0) return rc;
  const int rank = static_cast<int>(comm_old.rank());
  std::shared_ptr<const Topology> topology;
  if (rank < nnodes) {
    topology =
        std::make_shared<Topology>(Graph({indx, indx + nnodes}, {edges, edges + indx[nnodes - 1]}), rank);
  }
  return give(first_members(comm_old, nnodes), std::move(topology), comm_graph);
}

int Graph_map(Comm& comm, int nnodes, const int indx[], const int edges[], int* newrank) {
  const int rc = check_graph("comm", comm, nnodes, indx, edges);
  if (rc != MPI_SUCCESS) return rc;
  const int rank = static_cast<int>(comm.rank());
  *newrank = rank < nnodes ? rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int Graphdims_get(Comm& comm, int* nnodes, int* nedges) {
  const Graph* const graph = graph_of(comm);
  if (graph == nullptr) return wrong_topology("graph");
  *nnodes = graph->nodes();
  *nedges = graph->edges();
  return MPI_SUCCESS;
}

int Graph_get(Comm& comm, int maxindex, int maxedges, int indx[], int edges[]) {
  const Graph* const graph = graph_of(comm);
  if (graph == nullptr) return wrong_topology("graph");
  int rc = check_room("maxindex", maxindex, "index", indx, graph->nodes());
  if (rc != MPI_SUCCESS) return rc;
  rc = check_room("maxedges", maxedges, "edges", edges, graph->edges());
  if (rc != MPI_SUCCESS) return rc;
  std::copy(graph->all_ends().begin(), graph->all_ends().end(), indx);
  std::copy(graph->all_neighbors().begin(), graph->all_neighbors().end(), edges);
  return MPI_SUCCESS;
}

int Graph_neighbors_count(Comm& comm, int rank, int* nneighbors) {
  const Graph* const graph = graph_of(comm);
  if (graph == nullptr) return wrong_topology("graph");
  if (const int rc = check_node(*graph, rank); rc != MPI_SUCCESS) return rc;
  *nneighbors = static_cast<int>(graph->neighbors(rank).size());
  return MPI_SUCCESS;
}

int Graph_neighbors(Comm& comm, int rank, int maxneighbors, int neighbors[]) {
  const Graph* const graph = graph_of(comm);
  if (graph == nullptr) return wrong_topology("graph");
  if (const int rc = check_node(*graph, rank); rc != MPI_SUCCESS) return rc;
  const std::span<const int> found = graph->neighbors(rank);
  const int rc =
      check_room("maxneighbors", maxneighbors, "neighbors", neighbors, static_cast<int>(found.size()));
  if (rc != MPI_SUCCESS) return rc;
  std::copy(found.begin(), found.end(), neighbors);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api

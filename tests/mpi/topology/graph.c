/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs that every process knows as a whole: edges that repeat, lead back, have no counterpart; nodes
 * without edges; fewer nodes than processes (MPI-4, 8.5.3, 8.5.5). */
#include "check.h"

enum { MOST = 64 };

/* Node i has i % 3 edges, some of them twice or to itself. */
static int build(int nodes, int* ends, int* edges) {
  int total = 0;
  for (int i = 0; i < nodes; ++i) {
    for (int k = 0; k < i % 3; ++k) edges[total++] = (i * 2 + k / 2) % nodes;
    ends[i] = total;
  }
  return total;
}

static void check_graph(int nodes) {
  int ends[MOST], edges[MOST], got_ends[MOST], got_edges[MOST];
  int status, size, rank, got_nodes, got_total, count;
  const int total = build(nodes, ends, edges);
  MPI_Comm graph;
  OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, ends, edges, 0, &graph));
  CHECK_EQ(graph != MPI_COMM_NULL, world_rank() < nodes);
  if (graph == MPI_COMM_NULL) return;
  OK(MPI_Comm_size(graph, &size));
  CHECK_EQ(size, nodes);
  OK(MPI_Comm_rank(graph, &rank));
  CHECK_EQ(rank, world_rank());
  OK(MPI_Topo_test(graph, &status));
  CHECK_EQ(status, MPI_GRAPH);
  OK(MPI_Graphdims_get(graph, &got_nodes, &got_total));
  CHECK_EQ(got_nodes, nodes);
  CHECK_EQ(got_total, total);
  OK(MPI_Graph_get(graph, nodes, total, got_ends, got_edges));
  for (int i = 0; i < nodes; ++i) CHECK_EQ(got_ends[i], ends[i]);
  for (int i = 0; i < total; ++i) CHECK_EQ(got_edges[i], edges[i]);
  for (int i = 0; i < nodes; ++i) {
    const int first = i == 0 ? 0 : ends[i - 1];
    OK(MPI_Graph_neighbors_count(graph, i, &count));
    CHECK_EQ(count, ends[i] - first);
    OK(MPI_Graph_neighbors(graph, i, MOST, got_edges));
    for (int k = 0; k < count; ++k) CHECK_EQ(got_edges[k], edges[first + k]);
  }
  OK(MPI_Comm_free(&graph));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm none;
  int nothing = 0;
  for (int nodes = 1; nodes <= world_size(); ++nodes) check_graph(nodes);
  OK(MPI_Graph_create(MPI_COMM_WORLD, 0, &nothing, &nothing, 0, &none));
  CHECK(none == MPI_COMM_NULL);
  return finish();
}

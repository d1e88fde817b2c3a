/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dist_graph_create_adjacent: neighbours are given back in the order in which they were passed, only the
 * first ones where the arrays are short (MPI-4, 8.5.4, 8.5.5). */
#include "check.h"

static void check(int is_weighted) {
  const int me = world_rank(), size = world_size(), left = (me + size - 1) % size, right = (me + 1) % size;
  /* Two edges to the right, one to oneself; rank 0 has no edge to itself. */
  const int degree = me == 0 ? 2 : 3;
  const int sources[3] = {left, left, me}, source_weights[3] = {left * 10, left * 10 + 1, 7};
  const int destinations[3] = {right, right, me}, destination_weights[3] = {me * 10, me * 10 + 1, 7};
  int in, out, weighted, status, from[4] = {-3, -3, -3, -3}, from_weights[4] = {-3, -3, -3, -3};
  int to[4] = {-3, -3, -3, -3}, to_weights[4] = {-3, -3, -3, -3};
  MPI_Comm graph;
  OK(MPI_Dist_graph_create_adjacent(
      MPI_COMM_WORLD, degree, sources, is_weighted ? source_weights : MPI_UNWEIGHTED, degree, destinations,
      is_weighted ? destination_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
  OK(MPI_Topo_test(graph, &status));
  CHECK_EQ(status, MPI_DIST_GRAPH);
  OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK_EQ(in, degree);
  CHECK_EQ(out, degree);
  CHECK_EQ(!weighted, !is_weighted);
  OK(MPI_Dist_graph_neighbors(graph, 1, from, is_weighted ? from_weights : MPI_UNWEIGHTED, 2, to,
                              is_weighted ? to_weights : MPI_UNWEIGHTED));
  CHECK_EQ(from[0], left);
  CHECK_EQ(from[1], -3);
  CHECK_EQ(to[1], right);
  CHECK_EQ(to[2], -3);
  CHECK_EQ(from_weights[0], is_weighted ? left * 10 : -3);
  CHECK_EQ(from_weights[1], -3);
  OK(MPI_Dist_graph_neighbors(graph, 4, from, is_weighted ? from_weights : MPI_UNWEIGHTED, 4, to,
                              is_weighted ? to_weights : MPI_UNWEIGHTED));
  for (int k = 0; k < degree; ++k) {
    CHECK_EQ(from[k], sources[k]);
    CHECK_EQ(to[k], destinations[k]);
    CHECK_EQ(from_weights[k], is_weighted ? source_weights[k] : -3);
    CHECK_EQ(to_weights[k], is_weighted ? destination_weights[k] : -3);
  }
  CHECK_EQ(from[degree], -3);
  CHECK_EQ(to[degree], -3);
  OK(MPI_Comm_free(&graph));
}

/* A weighted graph in which no process has an edge. */
static void check_empty(void) {
  int in = 1, out = 1, weighted = 0;
  MPI_Comm graph;
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                    MPI_INFO_NULL, 1, &graph));
  OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK_EQ(in, 0);
  CHECK_EQ(out, 0);
  CHECK(weighted);
  OK(MPI_Dist_graph_neighbors(graph, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY));
  OK(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, NULL, 1, MPI_INT, graph));
  OK(MPI_Comm_free(&graph));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check(0);
  check(1);
  check_empty();
  return finish();
}

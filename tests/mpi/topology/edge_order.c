/* SPDX-License-Identifier: BSD-3-Clause */
/* Several edges between two processes have the same order at both ends: what goes along the k-th of them
 * arrives along the k-th (MPI-4, 8.5.4, 8.6). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  int source = me, degree = 5, destinations[5], weights[5], in, out, weighted;
  int from[5], from_weights[5], to[5], to_weights[5];
  MPI_Comm graph;
  for (int k = 0; k < 5; ++k) {
    destinations[k] = (me + 1) % size;
    weights[k] = (k * 3 + me) % 5;
  }
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, destinations, weights, MPI_INFO_NULL, 0,
                           &graph));
  OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK_EQ(in, 5);
  CHECK_EQ(out, 5);
  OK(MPI_Dist_graph_neighbors(graph, 5, from, from_weights, 5, to, to_weights));
  int theirs[5];
  OK(MPI_Neighbor_alltoall(to_weights, 1, MPI_INT, theirs, 1, MPI_INT, graph));
  for (int k = 0; k < 5; ++k) CHECK_EQ(theirs[k], from_weights[k]);
  OK(MPI_Comm_free(&graph));
  return finish();
}

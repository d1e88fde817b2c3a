/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dist_graph_create: edges that any process names, several times, to itself, with and without weights
 * (MPI-4, 8.5.4). What each process must have is worked out from all edges. */
#include "check.h"

enum { PER_PROCESS = 9, MOST = 9 * 16 };

/* The edges that `teller` names; weight tells where an edge comes from. */
static int source_of(int teller, int k, int size) { return (teller * 5 + k / 3) % size; }
static int destination_of(int teller, int k, int size) { return (teller + k * k) % size; }
static int weight_of(int teller, int k) { return teller * 100 + k; }
/* Rank 1 knows of none. */
static int edges_of(int teller) { return teller == 1 ? 0 : PER_PROCESS; }

/* Takes the edge out of a list of neighbours and their weights; it has to be there. */
static void strike(int* ranks, int* weights, int count, int rank, int weight) {
  for (int i = 0; i < count; ++i) {
    if (ranks[i] != rank || (weights != NULL && weights[i] != weight)) continue;
    ranks[i] = -9;
    return;
  }
  check_fail(__FILE__, __LINE__, "an edge is missing");
}

static void check_edges(MPI_Comm graph, int is_weighted) {
  int in, out, weighted, sources[MOST], from_weights[MOST], destinations[MOST], to_weights[MOST];
  int again[MOST], expected_in = 0, expected_out = 0;
  const int me = world_rank(), size = world_size();
  OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK_EQ(!weighted, !is_weighted);
  OK(MPI_Dist_graph_neighbors(graph, in, sources, is_weighted ? from_weights : MPI_UNWEIGHTED, out,
                              destinations, is_weighted ? to_weights : MPI_UNWEIGHTED));
  OK(MPI_Dist_graph_neighbors(graph, in, again, MPI_UNWEIGHTED, out, again + in, MPI_UNWEIGHTED));
  for (int i = 0; i < in; ++i) CHECK_EQ(again[i], sources[i]);
  for (int i = 0; i < out; ++i) CHECK_EQ(again[in + i], destinations[i]);
  for (int teller = 0; teller < size; ++teller)
    for (int k = 0; k < edges_of(teller); ++k) {
      const int from = source_of(teller, k, size), to = destination_of(teller, k, size);
      const int weight = weight_of(teller, k);
      if (to == me) strike(sources, is_weighted ? from_weights : NULL, in, from, weight), ++expected_in;
      if (from == me) strike(destinations, is_weighted ? to_weights : NULL, out, to, weight), ++expected_out;
    }
  CHECK_EQ(in, expected_in);
  CHECK_EQ(out, expected_out);
}

/* Each process names its edges one by one, or grouped by their source. */
static MPI_Comm make(int is_weighted, int grouped) {
  int sources[PER_PROCESS], degrees[PER_PROCESS], destinations[PER_PROCESS], weights[PER_PROCESS], n = 0;
  const int me = world_rank(), size = world_size(), total = edges_of(me);
  MPI_Comm graph;
  for (int k = 0; k < total; ++k) {
    destinations[k] = destination_of(me, k, size);
    weights[k] = weight_of(me, k);
    if (grouped && n > 0 && sources[n - 1] == source_of(me, k, size)) {
      ++degrees[n - 1];
    } else {
      sources[n] = source_of(me, k, size);
      degrees[n++] = 1;
    }
  }
  const int* const given = !is_weighted ? MPI_UNWEIGHTED : total == 0 ? MPI_WEIGHTS_EMPTY : weights;
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, given, MPI_INFO_NULL, 0,
                           &graph));
  return graph;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status, result;
  for (int is_weighted = 0; is_weighted < 2; ++is_weighted)
    for (int grouped = 0; grouped < 2; ++grouped) {
      MPI_Comm graph = make(is_weighted, grouped);
      OK(MPI_Topo_test(graph, &status));
      CHECK_EQ(status, MPI_DIST_GRAPH);
      OK(MPI_Comm_compare(graph, MPI_COMM_WORLD, &result));
      CHECK_EQ(result, MPI_CONGRUENT);
      check_edges(graph, is_weighted);
      OK(MPI_Comm_free(&graph));
    }
  return finish();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The class of every other wrong argument. The standard leaves most of them to the library, and libraries
 * differ or crash, so this is for those that speak the MPI-5 ABI (MPI-5, 8.5, 9.4). needs: mpi-5 */
#include "check.h"

#if MPI_VERSION >= 5
static void grids(void) {
  const int one = 1, no = 0, zero[2] = {0, 1}, negative[2] = {1, -1};
  int a = 0, b = 0, array[4] = {0}, more[4];
  MPI_Comm grid, comm = MPI_COMM_NULL;
  CHECK_ERROR(MPI_Cart_create(MPI_COMM_SELF, 2, zero, array, 0, &comm), MPI_ERR_DIMS);
  CHECK_ERROR(MPI_Cart_create(MPI_COMM_SELF, 2, negative, array, 0, &comm), MPI_ERR_DIMS);
  CHECK_ERROR(MPI_Cart_create(MPI_COMM_SELF, 1, &one, NULL, 0, &comm), MPI_ERR_ARG);
  CHECK(comm == MPI_COMM_NULL);
  CHECK_ERROR(MPI_Cart_map(MPI_COMM_SELF, -1, &one, &no, &a), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_map(MPI_COMM_SELF, 2, zero, array, &a), MPI_ERR_DIMS);
  OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &no, 0, &grid));
  CHECK_ERROR(MPI_Cart_get(grid, 0, array, more, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_get(grid, -1, array, more, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_get(grid, 1, NULL, more, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_get(grid, 1, array, more, NULL), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_coords(grid, 1, 1, array), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Cart_coords(grid, -1, 1, array), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Cart_coords(grid, 0, 0, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_coords(grid, 0, 1, NULL), MPI_ERR_ARG);
  array[0] = 1;
  CHECK_ERROR(MPI_Cart_rank(grid, array, &a), MPI_ERR_ARG);
  array[0] = -1;
  CHECK_ERROR(MPI_Cart_rank(grid, array, &a), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_rank(grid, NULL, &a), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_shift(grid, 1, 1, &a, &b), MPI_ERR_DIMS);
  CHECK_ERROR(MPI_Cart_shift(grid, -1, 1, &a, &b), MPI_ERR_DIMS);
  CHECK_ERROR(MPI_Cart_sub(grid, NULL, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graphdims_get(grid, &a, &b), MPI_ERR_TOPOLOGY);
  OK(MPI_Cart_create(MPI_COMM_SELF, 0, NULL, NULL, 0, &comm));
  CHECK_ERROR(MPI_Cart_shift(comm, 0, 1, &a, &b), MPI_ERR_DIMS);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Comm_free(&grid));
}

static void factors(void) {
  int dims[2] = {0, 0};
  CHECK_ERROR(MPI_Dims_create(0, 1, dims), MPI_ERR_DIMS);
  CHECK_ERROR(MPI_Dims_create(-4, 1, dims), MPI_ERR_DIMS);
  CHECK_ERROR(MPI_Dims_create(4, -1, dims), MPI_ERR_DIMS);
  CHECK_ERROR(MPI_Dims_create(4, 0, dims), MPI_ERR_DIMS);
  dims[0] = dims[1] = 2;
  CHECK_ERROR(MPI_Dims_create(8, 2, dims), MPI_ERR_DIMS);
  CHECK_EQ(dims[0], 2);
}

static void graphs(void) {
  const int ends[1] = {1}, edges[1] = {0}, outside[1] = {1}, negative[1] = {-1}, falling[2] = {1, 0};
  int a = 0, array[4];
  MPI_Comm graph, comm = MPI_COMM_NULL;
  CHECK_ERROR(MPI_Graph_create(MPI_COMM_SELF, -1, ends, edges, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_create(MPI_COMM_SELF, 1, ends, outside, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_create(MPI_COMM_SELF, 1, ends, negative, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_create(MPI_COMM_SELF, 1, negative, edges, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_create(MPI_COMM_SELF, 1, NULL, edges, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_create(MPI_COMM_SELF, 1, ends, NULL, 0, &comm), MPI_ERR_ARG);
  if (world_size() > 1)
    CHECK_ERROR(MPI_Graph_create(MPI_COMM_WORLD, 2, falling, edges, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_map(MPI_COMM_SELF, 1, ends, outside, &a), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_map(MPI_COMM_SELF, 2, ends, edges, &a), MPI_ERR_ARG);
  OK(MPI_Graph_create(MPI_COMM_SELF, 1, ends, edges, 0, &graph));
  CHECK_ERROR(MPI_Graph_get(graph, 0, 1, array, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_get(graph, 1, 0, array, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_get(graph, 1, 1, NULL, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_get(graph, 1, 1, array, NULL), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_neighbors_count(graph, 1, &a), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Graph_neighbors(graph, -1, 1, array), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Graph_neighbors(graph, 0, 0, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_neighbors(graph, 0, 1, NULL), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cartdim_get(graph, &a), MPI_ERR_TOPOLOGY);
  OK(MPI_Comm_free(&graph));
}

static int adjacent(int sources, const int* from, const int* from_weights, const int* to_weights) {
  const int me[1] = {0};
  MPI_Comm comm;
  return MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, sources, from, from_weights, 1, me, to_weights,
                                        MPI_INFO_NULL, 0, &comm);
}

static int named(const int* sources, const int* degrees, const int* destinations, const int* weights) {
  MPI_Comm comm;
  return MPI_Dist_graph_create(MPI_COMM_SELF, 1, sources, degrees, destinations, weights, MPI_INFO_NULL, 0,
                               &comm);
}

static void distributed(void) {
  const int me[1] = {0}, one[1] = {1}, outside[1] = {1}, negative[1] = {-1};
  int a, b, array[4];
  MPI_Comm graph;
  CHECK_ERROR(named(outside, one, me, MPI_UNWEIGHTED), MPI_ERR_RANK);
  CHECK_ERROR(named(me, one, negative, MPI_UNWEIGHTED), MPI_ERR_RANK);
  CHECK_ERROR(named(me, negative, me, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_ERROR(named(NULL, one, me, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_ERROR(named(me, NULL, me, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_ERROR(named(me, one, NULL, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_ERROR(named(me, one, me, negative), MPI_ERR_ARG);
  CHECK_ERROR(named(me, one, me, NULL), MPI_ERR_ARG);
  CHECK_ERROR(named(me, one, me, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);
  CHECK_ERROR(adjacent(-1, me, MPI_UNWEIGHTED, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_ERROR(adjacent(1, outside, MPI_UNWEIGHTED, MPI_UNWEIGHTED), MPI_ERR_RANK);
  CHECK_ERROR(adjacent(1, NULL, MPI_UNWEIGHTED, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_ERROR(adjacent(1, me, one, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_ERROR(adjacent(1, me, one, negative), MPI_ERR_ARG);
  CHECK_ERROR(adjacent(1, me, one, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, me, one, 1, me, one, MPI_INFO_NULL, 0, &graph));
  CHECK_ERROR(MPI_Dist_graph_neighbors(graph, -1, array, array, 1, array, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Dist_graph_neighbors(graph, 1, NULL, array, 1, array, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Dist_graph_neighbors(graph, 1, array, NULL, 1, array, array), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graphdims_get(graph, &a, &b), MPI_ERR_TOPOLOGY);
  OK(MPI_Comm_free(&graph));
}

/* Whether there are weights is the same at all processes, which all of them notice. */
static void weights_differ(void) {
  const int me = world_rank(), degree = 1, weight = 3;
  MPI_Comm comm;
  if (world_size() == 1) return;
  CHECK_ERROR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &degree, &me, me == 0 ? &weight : MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
}

/* Two groups have no topology, and cannot get one. */
static void two_groups(void) {
  const int me = world_rank(), one = 1, ends[1] = {0};
  int status = -1, rank = -1;
  MPI_Comm half, both, comm;
  if (world_size() == 1) return;
  OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &both));
  OK(MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN));
  OK(MPI_Topo_test(both, &status));
  CHECK_EQ(status, MPI_UNDEFINED);
  CHECK_ERROR(MPI_Cart_create(both, 1, &one, &one, 0, &comm), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Cart_map(both, 1, &one, &one, &rank), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Graph_create(both, 1, ends, ends, 0, &comm), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Dist_graph_create(both, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
              MPI_ERR_COMM);
  CHECK_ERROR(MPI_Dist_graph_create_adjacent(both, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                             MPI_INFO_NULL, 0, &comm),
              MPI_ERR_COMM);
  CHECK_ERROR(MPI_Cartdim_get(both, &rank), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Neighbor_allgather(&me, 1, MPI_INT, &rank, 1, MPI_INT, both), MPI_ERR_TOPOLOGY);
  OK(MPI_Comm_free(&both));
  OK(MPI_Comm_free(&half));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  grids();
  factors();
  graphs();
  distributed();
  weights_differ();
  two_groups();
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Cart_map and MPI_Graph_map: the processes that a topology has room for get different ranks in it, the
 * others MPI_UNDEFINED (MPI-4, 8.5.8). */
#include "check.h"

/* `mine` is this process's rank among `nodes`: every one is given once. */
static void check_ranks(int mine, int nodes) {
  const int size = world_size();
  int* const all = malloc(sizeof(int) * (size_t)size);
  OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
  for (int node = 0; node < nodes; ++node) {
    int found = 0;
    for (int r = 0; r < size; ++r) found += all[r] == node;
    CHECK_EQ(found, 1);
  }
  for (int r = 0; r < size; ++r) CHECK(all[r] == MPI_UNDEFINED || (all[r] >= 0 && all[r] < nodes));
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size(), periods[2] = {1, 0};
  int* const ends = malloc(sizeof(int) * (size_t)size);
  int* const edges = malloc(sizeof(int) * (size_t)size);
  for (int nodes = 1; nodes <= size; ++nodes) {
    const int dims[2] = {nodes, 1};
    int mine = -1;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mine));
    check_ranks(mine, nodes);
    for (int i = 0; i < nodes; ++i) {
      ends[i] = i + 1;
      edges[i] = (i + 1) % nodes;
    }
    OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, ends, edges, &mine));
    check_ranks(mine, nodes);
  }
  free(ends);
  free(edges);
  return finish();
}

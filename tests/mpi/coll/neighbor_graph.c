/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives on graphs: several edges between two processes, edges to oneself, processes
 * without neighbours, edges in one direction only (MPI-4, 8.6, 8.7). */
#include "neighbor.h"

/* Destinations of a process: a mixture of all others, some of them twice, and none for every fifth rank. */
static int destinations_of(int rank, int size, int* to) {
  int count = 0;
  if (rank % 5 == 3) return 0;
  for (int k = 0; k < size; ++k) {
    const int other = (rank * 3 + k * k + k) % size;
    if (count < 12 && (rank + 2 * other) % 3 != 1) to[count++] = other;
  }
  return count;
}

/* The sources of this process in any order that keeps edges from one source in their order. */
static void sources_of(Hood* hood, int me, int size) {
  hood->in = 0;
  for (int step = 0; step < size; ++step) {
    const int from = (me + size - step) % size;
    int to[MOST_NEIGHBORS];
    const int count = destinations_of(from, size, to);
    for (int k = 0; k < count; ++k) {
      if (to[k] != me) continue;
      CHECK(hood->in < MOST_NEIGHBORS);
      hood->sources[hood->in] = from;
      hood->sent_as[hood->in++] = k;
    }
  }
}

static void adjacent(MPI_Datatype spread) {
  const int me = world_rank(), size = world_size();
  Hood hood;
  hood.out = destinations_of(me, size, hood.destinations);
  sources_of(&hood, me, size);
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, hood.in, hood.sources, MPI_UNWEIGHTED, hood.out,
                                    hood.destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &hood.comm));
  exchange_all(&hood, spread, 1);
  OK(MPI_Comm_free(&hood.comm));
}

/* A ring known as a whole; every process also is its own neighbour. Each neighbour is named once. */
static void whole(MPI_Datatype spread) {
  const int me = world_rank(), size = world_size();
  int* const ends = malloc(sizeof(int) * (size_t)size);
  int* const edges = malloc(sizeof(int) * 3 * (size_t)size);
  int total = 0;
  Hood hood = {.in = 0};
  for (int r = 0; r < size; ++r) {
    edges[total++] = r;
    if (size > 1) edges[total++] = (r + 1) % size;
    if (size > 2) edges[total++] = (r + size - 1) % size;
    ends[r] = total;
  }
  OK(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &hood.comm));
  OK(MPI_Graph_neighbors_count(hood.comm, me, &hood.in));
  OK(MPI_Graph_neighbors(hood.comm, me, hood.in, hood.sources));
  hood.out = hood.in;
  memcpy(hood.destinations, hood.sources, sizeof hood.sources);
  hood.sent_as[0] = 0;
  hood.sent_as[1] = size > 2 ? 2 : 1;
  hood.sent_as[2] = 1;
  exchange_all(&hood, spread, 0);
  OK(MPI_Comm_free(&hood.comm));
  free(ends);
  free(edges);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype spread = spread_int();
  adjacent(spread);
  whole(spread);
  OK(MPI_Type_free(&spread));
  return finish();
}
